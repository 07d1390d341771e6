"""One spec for a run here and for one at a trainer."""

from __future__ import annotations

import pytest

from rl_gym.cli.main import main
from rl_gym.cli.run_spec import run_spec
from rl_gym.infra.errors import UsageError


def test_options_are_keys_like_any_other() -> None:
    spec = run_spec("nano", ["grpo.steps = 3"], model='a "b"', report_to="wandb", mode="drift", seed=4, key="k")
    assert spec.overrides == ["grpo.steps=3", 'model.base="a \\"b\\""', 'report_to="wandb"']
    assert (spec.preset, spec.mode, spec.seed, spec.idempotency_key) == ("nano", "drift", 4, "k")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"changes": ["grpo.steps"]}, "--set takes key=value, not 'grpo.steps'"),
        ({"changes": ["Grpo=1"]}, "overrides.0: "),
        ({"mode": "dance"}, "--mode takes pipeline, eval-only, "),
        ({"seed": -1}, "seed: "),
        ({"key": "é"}, "idempotency_key: "),
    ],
)
def test_what_is_no_spec_is_one_line(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError) as refused:
        run_spec("nano", **changes)  # type: ignore[arg-type]
    assert str(refused.value).startswith(complaint)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--server", "http://127.0.0.1:9", "--dry-run"],
        ["--server", "http://127.0.0.1:9", "--until", "sft"],
        ["--server", "http://127.0.0.1:9", "--resume", "runs/x"],
        ["--key", "k"],
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", *arguments]) == 1
    assert "leave" in (said := capsys.readouterr().err) or "name it by --server" in said
