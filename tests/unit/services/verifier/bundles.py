"""Signed bundles of generated rules, as a publisher would make them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from rl_gym.infra.signing import SigningKey
from rl_gym.wire import BundledRule, RuleBundle

RULE = BundledRule(
    name="ebs_final_snapshot",
    severity="medium",
    resource_types=["aws_ebs_volume"],
    hint="set final_snapshot = true",
    source="final_snapshot",
    draft="0" * 64,
)


def make_bundle(key: SigningKey, *rules: BundledRule) -> RuleBundle:
    chosen = list(rules or (RULE,))
    digest = RuleBundle.digest_of(chosen, None)
    signature = base64.b64encode(key.sign(digest.encode())).decode()
    return RuleBundle(digest=digest, rules=chosen, created=datetime(2026, 1, 1, tzinfo=UTC), signature=signature)
