"""A scorecard of an environment: what a repair acts on, and what it holds where the environment tells less."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rl_gym.gym.core import Action, Episode
from rl_gym.gym.examples.countdown import Countdown, make
from rl_gym.iac.environment import make as make_iac
from rl_gym.infra.errors import InfrastructureError
from rl_gym.wire import Fixed, Scorecard
from rl_gym.wire.finding import MAX_PROBLEMS

SUM = Episode("e", "reach 3", data={"target": 3, "numbers": [1, 2]})
VOLUME = 'resource "aws_ebs_volume" "x" {\n  availability_zone = "eu-west-1a"\n  size = 1\n}\n'
ASKED = Episode("e", "a volume", data={"required": ["aws_ebs_volume", "aws_sqs_queue"]})


class Telling(Countdown):
    """Tells problems: the same ones of every answer, or whatever they raise."""

    def __init__(self, *told: str, error: Exception | None = None) -> None:
        self._told, self._error = told, error

    def problems(self, action: Action | None, episode: Episode) -> Sequence[str]:
        if self._error is not None:
            raise self._error
        return [*self._told, "nothing could be read"] if action is None else self._told


def test_the_problems_are_what_is_missing_and_then_what_the_findings_say() -> None:
    card = Scorecard.of(make_iac(), ASKED, VOLUME)
    missing, worst = card.problems[:2]
    assert missing.startswith("aws_sqs_queue was required")
    assert worst.startswith("high: aws_ebs_volume.x, line 1: ")
    assert card.findings[0].fix in worst
    assert len(card.problems) == 1 + len(card.findings)


def test_what_cannot_be_read_has_its_place_for_a_problem() -> None:
    assert Scorecard.of(make_iac(), ASKED, VOLUME + "}").problems[0].startswith("line 5, column 1: ")
    assert Scorecard.of(make_iac(), ASKED, "").problems == ["there is no Terraform in the answer"]


def test_an_environment_that_tells_of_no_problems_has_none() -> None:
    card = Scorecard.of(make(), SUM, "1 * 2")
    assert (card.problems, card.findings) == ([], [])
    assert card.breakdown.reward < 1


def test_an_answer_that_parses_to_nothing_has_problems_too() -> None:
    assert Scorecard.of(Telling(), SUM, "").problems == ["nothing could be read"]


def test_problems_are_bounded_in_number_and_length() -> None:
    told = [str(number) for number in range(2 * MAX_PROBLEMS)]
    problems = Scorecard.of(Telling("x" * 5_000, *told), SUM, "1 + 2").problems
    assert len(problems) == MAX_PROBLEMS
    assert (len(problems[0]), problems[1]) == (2_000, "0")


def test_problems_that_cannot_be_told_are_a_fault_of_ours() -> None:
    with pytest.raises(InfrastructureError, match="'countdown' failed on episode 'e': KeyError"):
        Scorecard.of(Telling(error=KeyError("x")), SUM, "1 + 2")


def test_what_is_mechanical_is_fixed_and_judged_anew() -> None:
    env = make_iac()
    fixed = Fixed.of(env, ASKED, f"Sure:\n```hcl\n{VOLUME}```\n")
    assert fixed is not None
    assert "encrypted" in fixed.completion
    assert fixed.scorecard == Scorecard.of(env, ASKED, fixed.completion)
    assert fixed.scorecard.checks["ebs_encrypted"] == "pass"
    assert Fixed.of(env, ASKED, fixed.completion) is None


@pytest.mark.parametrize("completion", ["", "prose", "resource {"])
def test_what_cannot_be_read_is_not_fixed(completion: str) -> None:
    assert Fixed.of(make_iac(), ASKED, completion) is None


def test_an_environment_without_fixers_fixes_nothing() -> None:
    assert Fixed.of(make(), SUM, "1 * 2") is None
