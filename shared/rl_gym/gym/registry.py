"""Environments by name: registered in process, or offered by any installed package through an entry point."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from rl_gym.gym.core import Environment
from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = [
    "GROUP",
    "Factory",
    "applicable",
    "available",
    "get_env",
    "options",
    "register",
    "resolve",
    "source",
    "unregister",
]

GROUP = "rl_gym.environments"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")

Factory = Callable[..., Environment]

_registered: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Offer `factory(**options) -> Environment` under `name`, before any entry point of that name.

    Raises UsageError for a malformed name, or one that another factory holds already.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"environment name {name!r}: lower-case letters, digits, - and _, a letter first")
    if _registered.setdefault(name, factory) is not factory:
        raise UsageError(f"environment {name!r} is registered already")


def unregister(name: str) -> None:
    """Withdraw a name given to `register`; a name that is not registered is left alone."""
    _registered.pop(name, None)


def available() -> tuple[str, ...]:
    """Every name that `get_env` takes, sorted; nothing is imported to tell."""
    return tuple(sorted({*_registered, *_entry_points()}))


def source(name: str) -> str:
    """Where an environment comes from: `package.module:factory`, as its entry point or its function says."""
    if name in _registered:
        factory = _registered[name]
        return f"{factory.__module__}:{getattr(factory, '__qualname__', type(factory).__qualname__)}"
    return _entry_point(name).value


def get_env(name: str, /, **options: Any) -> Environment:
    """Make the environment called `name`; the options go to its factory.

    Raises NotFoundError for an unknown name, UsageError for options that the factory does not take or for a package
    whose entry point does not load.
    """
    return _build(_registered.get(name) or _load(_entry_point(name)), name, options)


def resolve(spec: str, /, **options: Any) -> Environment:
    """Make an environment from what a person typed: a name, `package.module:factory`, or `path/to/file.py[:factory]`.

    The factory of a file is called `make` unless one is named. Raises as `get_env` does, and NotFoundError for a file
    or a module that is not there. A file or module is imported, with the rights of the caller.
    """
    return _build(_find(spec), spec, options)


def options(spec: str) -> frozenset[str]:
    """The names of the options that the factory of an environment takes; `spec` and errors are those of `resolve`."""
    return frozenset(inspect.signature(_find(spec)).parameters)


def applicable(spec: str, asked: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options asked for that the factory of an environment takes; `spec` is that of `resolve`.

    Raises UsageError for one that it does not take and that is not at its default: what is asked for has an effect.
    """
    takes = options(spec)
    for name, value in asked.items():
        if name not in takes and value != defaults.get(name):
            raise UsageError(f"environment {spec!r} has no {name}s: leave {name!r} out")
    return {name: value for name, value in asked.items() if name in takes}


def _find(spec: str) -> Factory:
    location, _, factory = spec.partition(":")
    if location.endswith(".py"):
        return _from_file(Path(location), factory or "make")
    if factory:
        return _load(metadata.EntryPoint(spec, spec, GROUP))
    return _registered.get(spec) or _load(_entry_point(spec))


def _from_file(path: Path, factory: str) -> Factory:
    if not path.is_file():
        raise NotFoundError(f"{path}: no such file")
    name = f"rl_gym_environment_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: no Python module")
    module = importlib.util.module_from_spec(spec)
    # Known by name while it runs: dataclasses look their module up.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(f"{path} does not load: {type(error).__name__}: {error}") from error
    made = getattr(module, factory, None)
    if not callable(made):
        raise UsageError(f"{path} has no factory {factory}()")
    return cast(Factory, made)


def _build(factory: Factory, name: str, options: dict[str, Any]) -> Environment:
    """Call a factory with options and see that an Environment comes out; UsageError says what did not fit."""
    takes = "none"
    try:
        signature = inspect.signature(factory)
        takes = ", ".join(signature.parameters) or takes
        signature.bind(**options)
    except (TypeError, ValueError) as error:
        raise UsageError(f"environment {name!r}: {error} (its options: {takes})") from None
    env = factory(**options)
    if not isinstance(env, Environment):
        missing = [member for member in _MEMBERS if not hasattr(env, member)]
        raise UsageError(
            f"environment {name!r}: what its factory made is no Environment, it lacks {', '.join(missing)}"
        )
    return env


_MEMBERS = ("name", "reward", "episodes", "prompt", "parse", "oracle", "random")


def _entry_points() -> dict[str, set[str]]:
    """Name to the distinct values offered for it (an editable install may list the same one twice)."""
    offers: dict[str, set[str]] = {}
    for point in metadata.entry_points(group=GROUP):
        offers.setdefault(point.name, set()).add(point.value)
    return offers


def _entry_point(name: str) -> metadata.EntryPoint:
    offers = _entry_points()
    if name not in offers:
        names = available()
        nearest = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise NotFoundError(f"unknown environment {name!r}{hint} (available: {', '.join(names) or 'none'})")
    if len(offers[name]) > 1:
        raise UsageError(f"environment {name!r} is offered more than once: {', '.join(sorted(offers[name]))}")
    return metadata.EntryPoint(name, offers[name].pop(), GROUP)


def _load(point: metadata.EntryPoint) -> Factory:
    try:
        factory = point.load()
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"environment {point.name!r}: its entry point {point.value} does not load: {message}"
        ) from error
    if not callable(factory):
        raise UsageError(f"environment {point.name!r}: its entry point {point.value} is no factory")
    return cast(Factory, factory)
