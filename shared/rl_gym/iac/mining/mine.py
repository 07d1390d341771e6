"""From folders of cloned repositories to episodes: what may train, what is held out, and why the rest is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from rl_gym.gym.core import Episode
from rl_gym.iac import anchors
from rl_gym.iac.datasets import checkov_request
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.iac.mining.checkout import Repository, Skipped, find_repositories
from rl_gym.iac.mining.github import GitHub
from rl_gym.iac.mining.licences import Licence, allows, checked_names, licence_of
from rl_gym.iac.mining.modules import LONGEST, CandidateModule, UnfitError, files_of, module_of
from rl_gym.iac.mining.requests import request_for
from rl_gym.iac.mining.wordings import PERMISSIVE
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.tasks import parametric
from rl_gym.iac.texts import ANCHOR_NEAR, REQUEST_NEAR, KnownTexts, anchor_texts, fingerprint
from rl_gym.infra.errors import RlGymError, UsageError, one_line

__all__ = ["SOURCE", "Mined", "MinedEpisode", "Options", "mine"]

SOURCE = "mined"
"""The source of mined episodes."""

NEAR = 0.8
"""From which similarity on two modules are one."""

_ORIGINS = ("autoiac-project/iac-eval", "bridgecrewio/checkov")
"""The repositories that the anchors were drawn from: nothing of theirs is mined."""

_HOURS = 6.0


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for: SPDX names besides the permissive ones, the share of repositories that is held out, and the
    most characters of a reference."""

    licences: tuple[str, ...] = ()
    holdout_share: float = 0.1
    longest: int = LONGEST

    def __post_init__(self) -> None:
        if not 0 <= self.holdout_share <= 0.9:
            raise UsageError(f"the share of repositories that is held out must lie in [0, 0.9]: {self.holdout_share:g}")
        if not 200 <= self.longest <= 60_000:
            raise UsageError(f"a reference may have from 200 to 60000 characters, not {self.longest}")
        checked_names(self.licences)


@dataclass(frozen=True, slots=True)
class MinedEpisode:
    """An episode and where it comes from: repository, commit, path, files, licence and holder."""

    episode: Episode
    attribution: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mined:
    """What was made of the repositories: episodes that train, episodes that are held out, and what is neither."""

    train: Sequence[MinedEpisode]
    holdout: Sequence[MinedEpisode]
    skipped: Sequence[Skipped]
    repositories: int
    modules: int

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many were skipped for each reason, most first."""
        counts = Counter(one.reason for one in self.skipped)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True, slots=True)
class _Found:
    repository: Repository
    folder: str
    files: Sequence[str]
    licence: Licence
    module: CandidateModule = field(repr=False)

    @property
    def types(self) -> frozenset[str]:
        return frozenset(self.module.types)

    def skip(self, reason: str) -> Skipped:
        return Skipped(self.repository.name, self.folder, reason)

    def episode(self) -> MinedEpisode:
        name = f"{self.repository.name}:{self.folder}"
        text: dict[str, Any] = {"training_only": True} if self.module.no_reference else {"reference": self.module.text}
        data = {"required": list(self.module.types), **text}
        attribution = {
            "repository": self.repository.name,
            "commit": self.repository.commit,
            "path": self.folder,
            "files": list(self.files),
            "licence": self.licence.name,
            "licence_told_by": self.licence.told_by,
            "holder": self.licence.holder or f"the authors of {self.repository.name}",
            **(
                {"no_reference": self.module.no_reference} if self.module.no_reference else {"whole": self.module.whole}
            ),
        }
        return MinedEpisode(Episode(name, request_for(name, self.module.types), SOURCE, data), attribution)


def mine(
    folders: Sequence[Path],
    options: Options = Options(),
    *,
    github: GitHub | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    hours: float = _HOURS,
    clock: Callable[[], float] = time.monotonic,
) -> Mined:
    """Mine folders; the same files and options give the same, whatever the order in which the folders are named.

    `progress(done, total)` hears of each repository. Raises NotFoundError for a folder that is not there, UsageError
    where there is more than can be mined at once or within `hours`.
    """
    deadline = clock() + hours * 3600
    allowed = checked_names((*PERMISSIVE, *options.licences))
    repositories = find_repositories(folders)
    skipped: list[Skipped] = []
    found: list[_Found] = []
    names: set[str] = set()
    for number, repository in enumerate(repositories):
        progress(number, len(repositories))
        if clock() > deadline:
            raise UsageError(f"not done after {hours:g} hours, at {repository.name}: mine the folders in parts")
        if reason := _refusal(repository, names):
            skipped.append(Skipped(repository.name, ".", reason))
            continue
        names.add(repository.name.casefold())
        skipped += repository.skipped
        found += _distinct_types(_modules(repository, allowed, options, github, skipped), skipped)
    progress(len(repositories), len(repositories))
    kept = list(_distinct(found, skipped))
    train, holdout = _split(kept, options.holdout_share, skipped)
    modules = sum(len(repository.modules) for repository in repositories)
    return Mined(
        [one.episode() for one in train],
        [one.episode() for one in holdout],
        sorted(skipped, key=lambda one: (one.repository, one.path, one.reason)),
        len(repositories),
        modules,
    )


def _refusal(repository: Repository, seen: Iterable[str]) -> str:
    name = repository.name.casefold()
    if name in seen:
        return "the same repository again"
    return "an anchor was drawn from it" if name.endswith(_ORIGINS) else ""


def _modules(
    repository: Repository, allowed: frozenset[str], options: Options, github: GitHub | None, skipped: list[Skipped]
) -> Iterator[_Found]:
    for folder in sorted(repository.modules):
        try:
            files = files_of(repository, folder)
            licence = licence_of(repository, folder, files, github)
            if licence.name is None:
                raise UnfitError(licence.reason)
            if not allows(licence.name, allowed):
                raise UnfitError(f"licence {licence.name}")
            yield _Found(repository, folder, list(files), licence, _judged(files, options.longest))
        except UnfitError as error:
            skipped.append(Skipped(repository.name, folder, str(error), error.detail))


def _judged(files: Mapping[str, str], longest: int) -> CandidateModule:
    """As `module_of`: one module that we fail on costs that module, not all that was mined."""
    try:
        return module_of(files, longest)
    except RlGymError:
        raise
    except Exception as error:
        raise UnfitError("could not be judged", one_line(f"{type(error).__name__}: {error}", 200)) from error


def _distinct_types(found: Iterable[_Found], skipped: list[Skipped]) -> Iterator[_Found]:
    """Of each set of types in a repository one module: with a reference before without, the outer before the inner."""
    seen: set[frozenset[str]] = set()
    order = sorted(found, key=lambda one: (bool(one.module.no_reference), one.folder.count("/"), one.folder))
    for one in order:
        if one.types in seen:
            skipped.append(one.skip("the same types as another module of the repository"))
        else:
            seen.add(one.types)
            yield one


def _distinct(found: Iterable[_Found], skipped: list[Skipped]) -> Iterator[_Found]:
    """Those that are no anchor's, and of equal or nearly equal ones the first."""
    held = _anchors()
    known = KnownTexts(NEAR)
    canonical: set[str] = set()
    for number, one in enumerate(found):
        digest = sha256(one.module.canonical.encode()).hexdigest()
        if any(held.find(print_) for print_ in one.module.prints):
            skipped.append(one.skip("an anchor's, or nearly"))
        elif digest in canonical:
            skipped.append(one.skip("the same content as another module"))
        elif known.find(one.module.prints[0]):
            skipped.append(one.skip("nearly the content of another module"))
        else:
            canonical.add(digest)
            known.add(str(number), one.module.prints[0])
            yield one


@cache
def _anchors() -> KnownTexts:
    """What the anchors' episodes were answered with, by people or, where nobody did, by the best known answer."""
    known = KnownTexts(ANCHOR_NEAR)
    for one in anchor_texts():
        known.add(f"{one.anchor}/{one.episode}", one.print)
    rules = frozenset(rule.id for rule in get_ruleset(DEFAULT_RULESET).rules)
    for episode in anchors.anchor("synthetic", None):
        known.add(f"synthetic/{episode.id}", fingerprint(parametric.oracle(episode, rules)))
    return known


def _split(found: Sequence[_Found], share: float, skipped: list[Skipped]) -> tuple[Sequence[_Found], Sequence[_Found]]:
    """What trains and what is held out: of other repositories, and for other types.

    A request is made from the types alone: one with types that are held out would ask for the same in other words.
    """
    train: list[_Found] = []
    holdout: list[_Found] = []
    for one in found:
        if not _is_held(one.repository.name, share):
            train.append(one)
        elif one.module.no_reference:
            skipped.append(one.skip("held out, and without a reference"))
        else:
            holdout.append(one)
    held = {one.types: "mined-holdout" for one in holdout}
    held |= {frozenset(one.types): "holdout" for one in anchor_texts() if one.anchor == "holdout"}
    requests = _requests(holdout)
    kept = []
    for one in train:
        if one.types in held:
            skipped.append(one.skip(f"the types of an episode of {held[one.types]}"))
        elif requests.find(fingerprint(one.episode().episode.request)):
            skipped.append(one.skip("the request of an episode that is held out, or nearly"))
        else:
            kept.append(one)
    return kept, holdout


def _requests(holdout: Iterable[_Found]) -> KnownTexts:
    """Requests that are held out and were made as these are, so that another one may come to the same."""
    known = KnownTexts(REQUEST_NEAR)
    for one in holdout:
        episode = one.episode().episode
        known.add(episode.id, fingerprint(episode.request))
    for text in anchor_texts():
        if text.anchor == "holdout":
            known.add(text.episode, fingerprint(checkov_request(text.episode, text.types)))
    for synthetic in anchors.anchor("synthetic", None):
        known.add(synthetic.id, fingerprint(synthetic.request))
    return known


def _is_held(repository: str, share: float) -> bool:
    """Whether a repository is held out: by its name alone, so that it stays so whatever else is mined."""
    drawn = int.from_bytes(sha256(f"mined-holdout/{repository.casefold()}".encode()).digest()[:8], "big")
    return drawn < share * 2**64
