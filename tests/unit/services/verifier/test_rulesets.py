"""Bundles of generated rules: believed by digest and signature alone, and put on top of `base`."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan
from rl_gym.infra.errors import InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.wire import RuleBundle
from services.verifier.rulesets import BundleRulesets, BundleStore, Compile, bundle_digest, load_compiler
from tests.unit.services.verifier.bundles import RULE, make_bundle
from tests.unit.services.verifier.rule_compiler import NAME, compile_rules

KEY = SigningKey.generate()
VOLUME = 'resource "aws_ebs_volume" "x" {\n  final_snapshot = %s\n}\n'


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def bundles(store: ObjectStore, *keys: SigningKey) -> BundleStore:
    return BundleStore(lambda: store, KeyRing(tuple(key.public for key in keys or (KEY,))))


def rulesets(store: ObjectStore, compile_rules: Compile | None = compile_rules) -> BundleRulesets:
    found = bundles(store)
    return BundleRulesets(lambda digest: found.load(digest).bundle, compile_rules)


def put(store: ObjectStore, bundle: RuleBundle, digest: str | None = None) -> None:
    store.put(RuleBundle.key(digest or bundle.digest), bundle.model_dump_json().encode())


def test_a_bundle_is_base_and_its_own_rules(store: ObjectStore) -> None:
    bundle = make_bundle(KEY)
    put(store, bundle)
    source = rulesets(store)
    name = f"base+bundle:{bundle.digest}"
    ruleset = get_ruleset(name, source)
    assert ruleset.name == name
    assert [rule.id for rule in ruleset.rules] == [*(rule.id for rule in get_ruleset("base").rules), RULE.name]
    assert [scan(VOLUME % value, ruleset=ruleset).verdict(RULE.name) for value in ("true", "false")] == ["pass", "fail"]
    assert get_ruleset("seed18", source).name == "seed18"


def test_other_sources_under_the_same_names_make_another_digest(store: ObjectStore) -> None:
    one, other = make_bundle(KEY), make_bundle(KEY, RULE.model_copy(update={"source": "encrypted"}))
    put(store, one)
    put(store, other)
    source = rulesets(store)
    digests = {source.ruleset(f"base+bundle:{bundle.digest}").digest for bundle in (one, other)}
    assert len(digests) == 2


def test_a_bundle_is_read_once(store: ObjectStore) -> None:
    bundle = make_bundle(KEY)
    put(store, bundle)
    found = bundles(store)
    first = found.load(bundle.digest)
    store.delete(RuleBundle.key(bundle.digest))
    assert found.load(bundle.digest) is first


def test_a_rotated_key_is_believed_while_it_is_listed(store: ObjectStore) -> None:
    bundle = make_bundle(KEY)
    put(store, bundle)
    assert bundles(store, SigningKey.generate(), KEY).load(bundle.digest).bundle == bundle
    with pytest.raises(InfrastructureError, match="signed by none"):
        bundles(store, SigningKey.generate()).load(bundle.digest)
    with pytest.raises(InfrastructureError, match="signed by none"):
        BundleStore(lambda: store, KeyRing()).load(bundle.digest)


def test_writing_to_the_store_is_not_enough(store: ObjectStore) -> None:
    bundle = make_bundle(KEY)
    changed = bundle.model_copy(update={"rules": [RULE.model_copy(update={"severity": "low"})]})
    foreign = bundle.model_copy(update={"signature": base64.b64encode(KEY.sign(b"other")).decode()})
    for stored, digest, reason in (
        (changed, bundle.digest, "another digest"),
        (make_bundle(KEY, RULE.model_copy(update={"severity": "low"})), bundle.digest, "another digest"),
        (foreign, bundle.digest, "signed by none"),
    ):
        put(store, stored, digest)
        with pytest.raises(InfrastructureError, match=reason):
            bundles(store).load(digest)
    store.put(RuleBundle.key(bundle.digest), b"{}")
    with pytest.raises(InfrastructureError, match="malformed"):
        bundles(store).load(bundle.digest)


@pytest.mark.parametrize("digest", ["0" * 64, "", "../../etc", "latest", "A", "x" * 5_000])
def test_a_bundle_that_is_not_there_is_not_found(store: ObjectStore, digest: str) -> None:
    with pytest.raises(NotFoundError, match="no bundle"):
        bundles(store).load(digest)


def test_a_bundle_that_is_too_large_is_not_said_to_be_missing(store: ObjectStore) -> None:
    store.put(RuleBundle.key("0" * 64), b" " * ((16 << 20) + 1))
    with pytest.raises(InfrastructureError, match=r"^bundle 0{64}: larger than 16 MiB$"):
        bundles(store).load("0" * 64)


def test_without_a_compiler_there_are_no_generated_rules(store: ObjectStore) -> None:
    with pytest.raises(UsageError, match="no compiler"):
        rulesets(store, None).ruleset("base+bundle:" + "0" * 64)


def test_a_bundle_takes_no_rule_of_base_over_and_a_compiler_makes_what_it_was_given(store: ObjectStore) -> None:
    taking = make_bundle(KEY, RULE.model_copy(update={"name": "ebs_encrypted"}))
    put(store, taking)
    with pytest.raises(InfrastructureError, match="rules of `base` are in it: ebs_encrypted"):
        rulesets(store).ruleset(f"base+bundle:{taking.digest}")
    with pytest.raises(InfrastructureError, match="other rules"):
        rulesets(store, lambda rules: []).ruleset(f"base+bundle:{taking.digest}")


def test_a_compiler_is_named_by_its_place() -> None:
    assert load_compiler("") is None
    loaded = load_compiler(NAME)
    assert loaded is not None
    assert [rule.id for rule in loaded([RULE])] == [RULE.name]
    for name in ("nowhere:f", "json:nothing", "json", ":", "x"):
        with pytest.raises(RlGymError, match="does not load"):
            load_compiler(name)


def test_only_some_names_ask_for_a_bundle() -> None:
    assert [bundle_digest(name) for name in ("base", "base+drift", "base+bundle:ab")] == [None, None, "ab"]
