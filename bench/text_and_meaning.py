"""What judging by meaning moves: the dev anchor under the rules of seed18, first by searching text, then by meaning.

    RL_GYM_DATA=FOLDER python bench/text_and_meaning.py

For the floor and the human reference of IaC-Eval's 120: the mean share of applicable rules that pass, with every rule
judged by a search of the text. Then each rule in turn is handed over to the evaluated configuration, and the points
that this moves are printed; then the gates. The searches stand in for checkers that read text, and were written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from rl_gym.gym.core import Episode
from rl_gym.gym.registry import get_env
from rl_gym.iac.reward import IacAction

RULESET = "seed18"


class Search(NamedTuple):
    """A rule as a text search: it applies where `asked` is found, and passes where `found` is, or `unwanted` is not."""

    asked: str
    found: str = ""
    unwanted: str = ""

    def verdict(self, text: str) -> str:
        if not re.search(self.asked, text):
            return "na"
        if self.unwanted:
            return "fail" if re.search(self.unwanted, text, re.DOTALL) else "pass"
        return "pass" if re.search(self.found, text) else "fail"


BUCKET, DATABASE, SERVER = '"aws_s3_bucket"', '"aws_(db_instance|rds_cluster)"', '"aws_(instance|launch_template)"'
SEARCHES: Mapping[str, Search] = {
    "s3_public_acl": Search(BUCKET, unwanted=r"public-read"),
    "sg_world_admin": Search('"aws_security_group', unwanted=r"\b(22|3389)\b.*0\.0\.0\.0/0"),
    "rds_public": Search(DATABASE, unwanted=r"publicly_accessible\s*=\s*true"),
    "hardcoded_secret": Search(r"resource", unwanted=r"(password|secret|token)\w*\s*=\s*\"[^\"$]+\""),
    "iam_wildcard": Search('"aws_iam_', unwanted=r"Action\"?\s*[:=]\s*\[?\s*\"\*\""),
    "iam_svc_wildcard": Search('"aws_iam_', unwanted=r"\"[a-z0-9-]+:\*\""),
    "s3_encryption": Search(BUCKET, "server_side_encryption"),
    "rds_encrypted": Search(DATABASE, r"storage_encrypted\s*=\s*true"),
    "ebs_encrypted": Search(f'"aws_ebs_volume"|{SERVER}', r"\bencrypted\s*=\s*true"),
    "s3_block_public": Search(BUCKET, "public_access_block"),
    "ec2_imdsv2": Search(SERVER, r"http_tokens\s*=\s*\"required\""),
    "ddb_encryption": Search('"aws_dynamodb_table"', "server_side_encryption"),
    "s3_versioning": Search(BUCKET, "versioning"),
    "rds_backup": Search(DATABASE, "backup_retention_period"),
    "kms_rotation": Search('"aws_kms_key"', r"enable_key_rotation\s*=\s*true"),
    "vpc_flow_logs": Search('"aws_vpc"', "aws_flow_log"),
    "cw_retention": Search('"aws_cloudwatch_log_group"', "retention_in_days"),
    "tags": Search(r"resource", r"\btags\b"),
}


class Judged(NamedTuple):
    """One answer: its verdicts by text and by meaning, and the gates."""

    text: dict[str, str]
    meaning: Mapping[str, str]
    gates: Mapping[str, bool]


def main() -> None:
    env = get_env("iac", ruleset=RULESET, profile="seed@1")
    episodes = env.episodes("dev")
    policies: Mapping[str, Callable[[Episode], str]] = {"random": env.random, "reference": env.oracle}
    columns = [[*_steps([_judge(policy(episode), episode) for episode in episodes])] for policy in policies.values()]
    print(f"{'mean share of rules that pass':32}" + "".join(f"{name:>22}" for name in policies))
    before = [0.0] * len(columns)
    for rows in zip(*columns, strict=True):
        cells = "".join(f"{row[1]:14.3f} {row[1] - last:+7.3f}" for row, last in zip(rows, before, strict=True))
        print(f"{rows[0][0]:32}{cells}")
        before = [row[1] for row in rows]


def _judge(text: str, episode: Episode) -> Judged:
    report = IacAction(text, RULESET).report(tuple(episode.data["required"]))
    return Judged({rule: search.verdict(text) for rule, search in SEARCHES.items()}, report.verdicts, report.gates)


def _steps(answers: list[Judged]) -> list[tuple[str, float]]:
    """The mean after each handover, in the order of the rules, and after each gate."""
    verdicts = [dict(answer.text) for answer in answers]
    steps = [("every rule by text", _mean(verdicts, answers, ()))]
    for rule in SEARCHES:
        for own, answer in zip(verdicts, answers, strict=True):
            own[rule] = answer.meaning[rule]
        steps.append((f"{rule} by meaning", _mean(verdicts, answers, ())))
    for gates in (("builds_required",), ("builds_required", "no_critical")):
        steps.append((f"gate {gates[-1]}", _mean(verdicts, answers, gates)))
    return steps


def _mean(verdicts: list[dict[str, str]], answers: list[Judged], gates: tuple[str, ...]) -> float:
    total = 0.0
    for own, answer in zip(verdicts, answers, strict=True):
        applicable = [verdict for verdict in own.values() if verdict != "na"]
        if applicable and all(answer.gates[gate] for gate in gates):
            total += applicable.count("pass") / len(applicable)
    return total / len(answers)


if __name__ == "__main__":
    main()
