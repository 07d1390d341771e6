"""Rulesets of generated rules: a signed bundle from the object store, compiled and put on top of `base`."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple, cast

from pydantic import ValidationError

from rl_gym.gym.core import content_hash
from rl_gym.iac.rules import Rule, Ruleset, get_ruleset
from rl_gym.iac.rules.registry import make_ruleset
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.signing import KeyRing
from rl_gym.wire import BundledRule, RuleBundle
from rl_gym.wire.rule import BUNDLE_RULESET

__all__ = ["BundleRulesets", "BundleStore", "Compile", "bundle_digest", "load_compiler"]

Compile = Callable[[Sequence[BundledRule]], Sequence[Rule]]
"""Makes rules of what is in a bundle, in order; it answers for it that nothing of a bundle runs outside its sandbox."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_BUNDLE_BYTES = 16 << 20
_MOST_KEPT = 16


def bundle_digest(ruleset: str) -> str | None:
    """The digest of the bundle that the name of a ruleset asks for, None where it asks for none."""
    return ruleset.removeprefix(BUNDLE_RULESET) if ruleset.startswith(BUNDLE_RULESET) else None


def load_compiler(name: str) -> Compile | None:
    """The compiler at `package.module:function`, None for no name. Raises UsageError where there is none."""
    if not name:
        return None
    module, _, function = name.partition(":")
    try:
        return cast(Compile, getattr(import_module(module), function))
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"rule compiler {name!r} does not load: {error}") from None


class VerifiedBundle(NamedTuple):
    """A bundle, and its JSON as it was stored: what a worker is given."""

    bundle: RuleBundle
    text: str


class BundleStore:
    """Bundles by digest, read once and kept: they never change. Writing to the store is not enough to publish one."""

    def __init__(self, store: Callable[[], ObjectStore], keys: KeyRing) -> None:
        self._store = store
        self._keys = keys
        # Several threads ask at once: a cache of the standard library is safe for that.
        self._loaded = lru_cache(_MOST_KEPT)(self._load)

    def load(self, digest: str) -> VerifiedBundle:
        """Raises NotFoundError for a bundle that is not there, and InfrastructureError for one that is too large, that
        is not what its digest says, or that none of the keys has signed.
        """
        return self._loaded(digest)

    def _load(self, digest: str) -> VerifiedBundle:
        if not _DIGEST.fullmatch(digest):
            raise NotFoundError(f"there is no bundle of rules {digest[:64]!r}: its SHA-256 in hex is needed")
        store = self._store()
        try:
            body = store.get(RuleBundle.key(digest), max_bytes=_MAX_BUNDLE_BYTES).body
        except NotFoundError:
            raise NotFoundError(f"there is no bundle of rules {digest!r}") from None
        except UsageError:
            raise InfrastructureError(f"bundle {digest}: larger than {_MAX_BUNDLE_BYTES >> 20} MiB") from None
        return VerifiedBundle(self._verified(digest, body), body.decode())

    def _verified(self, digest: str, body: bytes) -> RuleBundle:
        try:
            bundle = RuleBundle.model_validate_json(body)
        except ValidationError as error:
            raise InfrastructureError(f"bundle {digest}: malformed, {error.error_count()} misfits") from None
        if not digest == bundle.digest == RuleBundle.digest_of(bundle.rules, bundle.parent):
            raise InfrastructureError(f"bundle {digest}: its content has another digest")
        if self._keys.verify(base64.b64decode(bundle.signature), digest.encode()) is None:
            raise InfrastructureError(f"bundle {digest}: signed by none of the keys in RL_GYM_BUNDLE_KEYS")
        return bundle


class BundleRulesets:
    """A `RulesetSource`: `base+bundle:DIGEST` out of verified bundles, as `load` gives them."""

    def __init__(self, load: Callable[[str], RuleBundle], compile_rules: Compile | None) -> None:
        self._load = load
        self._compile = compile_rules

    def ruleset(self, name: str) -> Ruleset:
        digest = bundle_digest(name)
        if digest is None:
            return get_ruleset(name)
        if self._compile is None:
            raise UsageError(f"ruleset {name!r}: this service has no compiler for generated rules")
        bundle = self._load(digest)
        rules = self._compile(bundle.rules)
        if [rule.id for rule in rules] != [rule.name for rule in bundle.rules]:
            raise InfrastructureError(f"bundle {digest}: the compiler made other rules than are in it")
        base = get_ruleset("base").rules
        twice = {rule.id for rule in base} & {rule.id for rule in rules}
        if twice:
            raise InfrastructureError(f"bundle {digest}: rules of `base` are in it: {', '.join(sorted(twice))}")
        ruleset = make_ruleset(name, (*base, *rules))
        return replace(ruleset, digest=content_hash([ruleset.digest, digest])[:12])
