"""What the provider fills in, as it was read out of its plans."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from rl_gym.iac import scan
from rl_gym.iac.intent.defaults import learn
from rl_gym.iac.intent.planned import DEFAULTS, planned
from rl_gym.infra.errors import NotFoundError


def test_the_committed_file_is_what_the_plans_show(data_dir: Path) -> None:
    if not (data_dir / "plans").is_dir():
        pytest.skip(f"no plans in {data_dir}")
    committed = (resources.files("rl_gym.iac") / "data" / DEFAULTS).read_text(encoding="utf-8")
    assert learn(data_dir) == json.loads(committed)


def test_without_plans_nothing_is_learnt(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"iac_eval\.csv is not there"):
        learn(tmp_path)
    (tmp_path / "iac_eval.csv").symlink_to(data_dir / "iac_eval.csv")
    with pytest.raises(NotFoundError, match="holds no plan"):
        learn(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -m rl_gym.iac.intent.defaults FOLDER_OF_THE_CORPORA"),
        (["absent"], "error: absent/iac_eval.csv is not there"),
    ],
)
def test_a_wrong_argument_of_the_script_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "rl_gym.iac.intent.defaults", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_defaults_stand_beside_what_is_set_and_never_before_it() -> None:
    text = 'resource "aws_subnet" "s" {\n  vpc_id = "vpc-1"\n  map_public_ip_on_launch = %s\n}\n'
    (subnet,) = scan.read(text.replace("  map_public_ip_on_launch = %s\n", "")).configuration.resources()
    assert planned(subnet).known["map_public_ip_on_launch"] is False
    assert "map_public_ip_on_launch" not in planned(subnet, filled=False).known
    (public,) = scan.read(text % "true").configuration.resources()
    assert planned(public).known["map_public_ip_on_launch"] is True
    (unknown,) = scan.read('variable "v" {}\n' + text % "var.v").configuration.resources()
    assert "map_public_ip_on_launch" not in planned(unknown).known
