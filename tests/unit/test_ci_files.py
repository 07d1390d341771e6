"""What other people's CI runs: the action, the pre-commit hook, and the page about them do what they say."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rl_gym.cli import explain, scan_options
from rl_gym.cli.main import main
from rl_gym.cli.project_file import read_project_file
from rl_gym.wire import ScanRequest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
PUBLIC = 'resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n'


def _load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def _example(language: str, first_line: str) -> str:
    (block,) = [block for block in _blocks(language) if block.startswith(first_line)]
    return block


def _flags(parser: ArgumentParser) -> set[str]:
    return {flag for action in parser._actions for flag in action.option_strings}


def _vendored(name: str) -> dict[str, Any]:
    """A schema that GitHub's or GitLab's files are checked against, as the package check-jsonschema carries it."""
    package = importlib.util.find_spec("check_jsonschema")
    if package is None or package.origin is None:
        pytest.skip("check-jsonschema, which carries the schemas, is not installed")
    path = Path(package.origin).parent / "builtin_schemas" / "vendor" / f"{name}.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ("github-actions", lambda: _load("action.yml")),
        ("github-workflows", lambda: yaml.safe_load(_example("yaml", "# terraform.yml").replace("\non:", '\n"on":'))),
        ("gitlab-ci", lambda: yaml.safe_load(_example("yaml", "# .gitlab-ci"))),
    ],
)
def test_files_are_what_their_readers_take(schema: str, document: Any) -> None:
    jsonschema.validate(document(), _vendored(schema))


def test_every_flag_and_input_that_is_named_exists() -> None:
    known = _flags(scan_options._parser()) | _flags(explain._parser())
    foreign = {"--quiet", "--fail-with-body", "--silent", "--show-error", "--data"}
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    scans = "\n".join(re.findall(r"^ +(?:scan|words).*$", action, flags=re.MULTILINE))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE + scans))
    assert named - foreign - known == set()
    assert {"--baseline", "--fail-on", "--format", "--output", "--severity"} <= named

    inputs = _load("action.yml")["inputs"]
    listed = PAGE[PAGE.index("The inputs are") : PAGE.index("each described in")]
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(inputs)
    (step,) = [
        step for step in yaml.safe_load(_example("yaml", "# terraform.yml"))["jobs"]["scan"]["steps"] if "with" in step
    ]
    assert set(step["with"]) <= set(inputs)


def test_no_input_of_the_action_stands_in_a_script() -> None:
    for step in _load("action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.tf").write_text(PUBLIC)
    return tmp_path


def _act(project: Path, **inputs: str) -> tuple[dict[str, str], str]:
    """The outputs and the log of the action's own scan step, run as GitHub runs it."""
    action = _load("action.yml")
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "scan"]
    names = {name: match[1] for name, value in step["env"].items() if (match := re.search(r"inputs\.([\w-]+)", value))}
    given = {name: inputs.get(key.replace("-", "_"), action["inputs"][key]["default"]) for name, key in names.items()}
    outputs = project / "outputs"
    outputs.write_text("")
    environment = {**os.environ, **given, "PYTHON": sys.executable, "GITHUB_OUTPUT": str(outputs)}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    written = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return written, done.stdout + done.stderr


def test_the_action_annotates_and_writes_sarif(project: Path) -> None:
    outputs, log = _act(project, paths="infra\n", fail_on="critical", arguments="--severity tags=off")
    assert outputs == {"exit-code": "1", "sarif-file": "rl-gym.sarif"}
    assert "::error file=infra/main.tf,line=2,title=rds_public (critical)::" in log
    assert json.loads((project / "rl-gym.sarif").read_text())["version"] == "2.1.0"


def test_the_action_says_when_nothing_could_be_scanned(project: Path) -> None:
    outputs, log = _act(project, ruleset="$(touch x)")
    assert outputs == {"exit-code": "2"}
    assert "there is no ruleset '$(touch x)'" in log
    assert not (project / "x").exists()


def test_the_hook_runs_a_verb_over_what_exists(project: Path) -> None:
    (hook,) = _load(".pre-commit-hooks.yaml")
    program, verb, *arguments = [*shlex.split(hook["entry"]), *hook["args"]]
    assert (program, hook["language"], hook["pass_filenames"]) == ("rl-gym", "python", False)
    assert main([verb, *arguments]) == 1
    for path in ("main.tf", "a/b.tf.json", "prod.tfvars", "x.auto.tfvars.json", ".rl-gym.toml"):
        assert re.search(hook["files"], path)
    for path in ("main.tfx", "tf", "notes.md", "package.json"):
        assert not re.search(hook["files"], path)


def test_the_settings_of_the_page_are_read(project: Path) -> None:
    (settings,) = _blocks("toml")
    (project / ".rl-gym.toml").write_text(settings)
    found = read_project_file(".rl-gym.toml")
    assert found.options["engine"] == ["builtin", "checkov"]
    assert found.waivers[0].path == "infra/website/*"


def test_the_rule_of_the_page_judges(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "rules").mkdir()
    (project / "rules" / "owner.py").write_text(_example("python", "# policies"))
    (project / "infra" / "main.tf").write_text('resource "aws_kms_key" "k" {}\n')
    assert main(["scan", "infra", "--rules", "rules", "--fail-on", "high"]) == 1
    assert "infra/main.tf:1  high    acme_owner" in capsys.readouterr().out
    (project / "infra" / "main.tf").write_text(
        'variable "tags" {}\nresource "aws_kms_key" "k" {\n  tags = { Owner = null }\n}\n'
        'resource "aws_kms_key" "l" {\n  tags = var.tags\n}\n'
        'resource "aws_kms_key" "m" {\n  tags = { Owner = "me" }\n}\n'
    )
    assert main(["scan", "infra", "--rules", "rules", "--fail-on", "high"]) == 1
    said = [line.split()[:3] for line in capsys.readouterr().out.splitlines() if "acme_owner  " in line]
    assert said == [["infra/main.tf:3", "high", "acme_owner"], ["infra/main.tf:6", "unknown", "acme_owner"]]


def test_the_request_of_the_page_is_one(project: Path) -> None:
    (program,) = re.findall(r"<<'EOF'\n(.*?)^EOF", PAGE, flags=re.MULTILINE | re.DOTALL)
    folders = ("infra", "modules")
    done = subprocess.run([sys.executable, "-c", program, *folders], capture_output=True, text=True, check=True)
    request = ScanRequest.model_validate_json(done.stdout)
    assert (request.files, request.format) == ({"infra/main.tf": PUBLIC}, "sarif")
