"""From a source to a folder with a model in it, checked, and with the digest that says which model it is."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from rl_gym.infra.digests import file_digest, tree_digest
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.extras import extra
from rl_gym.infra.hints import hint
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.settings import Settings, load_settings
from rl_gym.serving.adapter_bases import base_of, is_adapter
from rl_gym.serving.weights import bucket, hub
from rl_gym.serving.weights.allowed import Terms
from rl_gym.serving.weights.files import check_files
from rl_gym.serving.weights.isolated import check_loads, convert
from rl_gym.serving.weights.packaged import PACKAGED, SMOL, SMOL_DIGEST, packaged_models, smol_file
from rl_gym.serving.weights.sources import Source, parse_source
from rl_gym.serving.weights.stored import stored

__all__ = ["Weights", "find_model", "named_weights", "resolve_weights"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in a folder, the `tree_digest` of its files, and the source that it came from, with the digest behind it.

    The source's digest is the same, except for a GGUF file: there it is the file's.
    """

    folder: Path
    digest: str
    origin: str


def find_model(name: str, settings: Settings | None = None) -> Path:
    """The folder of a model that is named as in `parse_source`; `settings` are those of the environment otherwise.

    Raises as `resolve_weights`.
    """
    source, settings = parse_source(name), settings or load_settings()
    if _stands(source) and not source.pin:
        # Without its digest, which would mean to read it.
        terms = Terms.of(settings)
        terms.check(source)
        return _standing(source, terms)
    return named_weights(name, settings).folder


def named_weights(name: str, settings: Settings) -> Weights:
    """As `resolve_weights`, with the store, the cache and the terms that settings name."""
    source = parse_source(name)
    store = None if _stands(source) else _open(settings.objects)
    return _resolve(source, store, settings.weights_cache, Terms.of(settings))


def resolve_weights(source: str, store: ObjectStore | None, cache: Path, terms: Terms | None = None) -> Weights:
    """The model behind a source. Packaged models and folders stay where they are, others come into `cache`.

    A source that was fetched once is taken from `store` from then on, by every machine, without asking its origin
    again. Raises ForbiddenError for a source that is not allowed, NotFoundError for a model that is not there,
    UsageError for one that may not or cannot be loaded, InfrastructureError where network or disk fail.
    """
    return _resolve(parse_source(source), store, cache, terms or Terms())


def _resolve(source: Source, store: ObjectStore | None, cache: Path, terms: Terms) -> Weights:
    terms.check(source)
    if _stands(source):
        folder = _standing(source, terms)
        pin = digest = tree_digest(folder)
    elif source.kind in ("gguf", "packaged"):
        pin = SMOL_DIGEST if source.kind == "packaged" else source.pin or _gguf_digest(source)
        folder, digest = _converted(source, pin, store, cache, terms)
    else:
        folder, pin = _fetched(source, store, cache, terms)
        digest = pin
    if source.pin and pin != source.pin:
        raise UsageError(f"{source} has the sha256 {pin}, not {source.pin}")
    return Weights(folder, digest, f"{source}@sha256:{pin}")


def _stands(source: Source) -> bool:
    """Whether it is used where it lies."""
    return source.kind == "folder" or (source.kind == "packaged" and source.place != SMOL)


def _standing(source: Source, terms: Terms) -> Path:
    if source.kind == "packaged":
        return PACKAGED / source.place
    folder = Path(source.place).expanduser()
    if is_adapter(folder):
        raise UsageError(
            f"{source} is an adapter over {base_of(folder) or 'a model that it does not name'}: make a model of them "
            f"by `rl-gym merge {source} --base SOURCE --out FOLDER`"
        )
    if not (folder / "config.json").is_file():
        raise _missing(source.place)
    check_files(folder, source, terms.most_bytes)
    return folder


def _missing(name: str) -> NotFoundError:
    known = [*packaged_models(), SMOL]
    otherwise = f"packaged are: {', '.join(known)}; others are named hub:ORG/NAME, s3://BUCKET/PREFIX, gguf:FILE"
    return NotFoundError(
        f"no model {name!r}: neither a packaged one nor a folder with config.json; {hint(name, known, otherwise)}"
    )


def _fetched(source: Source, store: ObjectStore | None, cache: Path, terms: Terms) -> tuple[Path, str]:
    def fetch(folder: Path, revision: str) -> str:
        if source.kind == "hub":
            revision = hub.download(source, revision, folder, terms)
        else:
            bucket.copy(source, folder, terms)
        check_files(folder, source, terms.most_bytes)
        check_loads(folder, source)
        return revision

    name = f"{source}@sha256:{source.pin}" if source.pin else str(source)
    return stored(name, store, cache, fetch, expected=source.pin)


def _converted(source: Source, digest: str, store: ObjectStore | None, cache: Path, terms: Terms) -> tuple[Path, str]:
    """A GGUF file is known by its content, and where that is asked for by digest it need not even be here."""

    def fetch(folder: Path, _: str) -> str:
        with extra("gguf"):
            import accelerate  # noqa: F401
            import gguf  # noqa: F401
        if (found := _gguf_digest(source)) != digest:
            raise UsageError(f"{source} has the sha256 {found}, not {digest}")
        convert(_gguf_file(source), folder, source, terms.most_bytes)
        check_files(folder, source, terms.most_bytes)
        return ""

    # Another version of the library may write another configuration beside the same weights.
    return stored(f"gguf:sha256:{digest}", store, cache, fetch, repeatable=False)


def _gguf_digest(source: Source) -> str:
    try:
        return file_digest(_gguf_file(source))
    except OSError as error:
        raise InfrastructureError(f"{source}: {error.strerror or error}") from error


def _gguf_file(source: Source) -> Path:
    path = smol_file() if source.kind == "packaged" else Path(source.place).expanduser()
    if not path.is_file():
        raise NotFoundError(f"{source}: there is no such file")
    return path


def _open(address: str) -> ObjectStore | None:
    try:
        return open_store(address)
    except InfrastructureError as error:
        _log.warning("models are neither taken from the object store nor stored: %s", error)
        return None
