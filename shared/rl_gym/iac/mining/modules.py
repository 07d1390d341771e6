"""One module as what an episode is made of: the types that it builds, its text, and why it makes none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from rl_gym.hcl import HclError, Limits, parse
from rl_gym.hcl.module import local_calls
from rl_gym.hcl.overrides import is_override
from rl_gym.iac.canonical import canonical
from rl_gym.iac.datasets import managed_types
from rl_gym.iac.mining.checkout import Repository
from rl_gym.iac.scan import read
from rl_gym.iac.schema import find_problems
from rl_gym.iac.schema.types import unknown_type
from rl_gym.iac.secret_values import credentials
from rl_gym.iac.texts import Fingerprint, fingerprint
from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.infra.text_files import UnreadableError

__all__ = ["LONGEST", "MOST_TYPES", "CandidateModule", "UnfitError", "files_of", "module_of"]

MOST_TYPES = 5
LONGEST = 12_000
"""The most characters of a reference, unless said otherwise: about 4,000 tokens, as long as an answer ever is."""

_MOST_FILES = 50
_LARGEST_FILE = 512 * 1024
_LARGEST = 1024 * 1024
_LIMITS = Limits(max_bytes=4 * _LARGEST, max_nodes=200_000)


class UnfitError(RlGymError):
    """A module makes no episode; the message is the reason, the same for all such modules, `detail` what it met."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class CandidateModule:
    """A module that may make an episode.

    `types`: AWS resource types in the order of the text. `no_reference` tells why `text` is none, "" where it is one.
    `canonical` is equal for modules of equal content; `prints` are of the text and of each of its files. `whole` tells
    whether Terraform would take the text as it stands: often a module needs files that are not its own.
    """

    types: tuple[str, ...]
    text: str = field(repr=False)
    no_reference: str
    canonical: str = field(repr=False)
    prints: tuple[Fingerprint, ...] = field(repr=False)
    whole: bool


def files_of(repository: Repository, folder: str) -> Mapping[str, str]:
    """The source files of a module by name, `main.tf` first, then as Terraform reads them; raises UnfitError."""
    names = sorted(repository.modules[folder], key=lambda name: (name != "main.tf", name))
    if len(names) > _MOST_FILES:
        raise UnfitError(f"more than {_MOST_FILES} files")
    if any(name.endswith(".json") for name in names):
        raise UnfitError("written in JSON")
    if any(map(is_override, names)):
        raise UnfitError("override files")
    try:
        return {name: _text(repository, name if folder == "." else f"{folder}/{name}") for name in names}
    except UnreadableError as error:
        raise UnfitError("unreadable file", f"{error.path}: {error.message}") from None


def _text(repository: Repository, path: str) -> str:
    return repository.read(path, _LARGEST_FILE).replace("\r\n", "\n").removeprefix("\ufeff")


def module_of(files: Mapping[str, str], longest: int = LONGEST) -> CandidateModule:
    """What a module's files make, in this order joined into one text; raises UnfitError where that is no episode."""
    text = "\n".join(body for one in files.values() if (body := f"{one.strip()}\n").strip())
    if len(text) > _LARGEST:
        raise UnfitError(f"larger than {_LARGEST >> 10} KiB")
    if any(credentials("", "", text)):
        raise UnfitError("holds a credential")
    try:
        types = _types(text)
        calls = bool(local_calls([parse(text, limits=_LIMITS)]))
    except HclError as error:
        _malformed(files, error)
    no_reference = "too long" if len(text) > longest else "calls a module of its repository" if calls else ""
    prints = (fingerprint(text), *(fingerprint(one) for one in files.values() if len(files) > 1 and one.strip()))
    if no_reference:
        return CandidateModule(types, text, no_reference, canonical(text, None), prints, False)
    content, whole = _evaluated(text)
    return CandidateModule(types, text, "", content, prints, whole)


def _types(text: str) -> tuple[str, ...]:
    kinds = list(managed_types(text, _LIMITS))
    own = tuple(kind for kind in kinds if kind.startswith("aws_"))
    if not own:
        raise UnfitError("builds no resource of AWS")
    for kind in kinds:
        if unknown := unknown_type(kind):
            raise UnfitError("resource types that the AWS provider lacks", unknown.partition(":")[0])
    if len(own) > MOST_TYPES:
        raise UnfitError(f"more than {MOST_TYPES} types")
    return own


def _evaluated(text: str) -> tuple[str, bool]:
    """The canonical form of a text, and whether Terraform would take it."""
    try:
        context = read(text)
        return canonical(text, context.configuration), not find_problems(context)
    except HclError as error:
        raise UnfitError("does not evaluate", error.message) from None
    except InfrastructureError as error:
        raise UnfitError("could not be judged", str(error)) from None


def _malformed(files: Mapping[str, str], error: HclError) -> NoReturn:
    """Tell in which file the mistake is, where one has it by itself."""
    for name, text in files.items():
        try:
            parse(f"{text}\n", name, _LIMITS)
        except HclError as own:
            raise UnfitError("not well formed", f"{name}:{own.line}: {own.message}") from None
    raise UnfitError("not well formed", error.message) from None
