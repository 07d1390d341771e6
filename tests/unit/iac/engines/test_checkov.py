"""Checkov by warm workers: its own verdicts, and nothing that a text can do to them or through them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rl_gym.iac.engines import EngineReport, checkov, get_engine
from rl_gym.iac.engines.checkov import CheckovEngine, find_python
from rl_gym.iac.scan import scan

VOLUME = 'resource "aws_ebs_volume" "data" {\n  encrypted = false\n}\n'
EVERY = 20
"""One in so many configurations of the corpus is compared with plain Checkov."""

PLAIN = """\
import json, sys, tempfile
from pathlib import Path
from checkov.runner_filter import RunnerFilter
from checkov.terraform.runner import Runner
for line in sys.stdin:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.tf").write_text(json.loads(line))
        wanted = RunnerFilter(framework=["terraform"], download_external_modules=False)
        report = Runner().run(root_folder=folder, runner_filter=wanted, collect_skip_comments=False)
    print(json.dumps([sorted([one.check_id, one.resource] for one in records)
                      for records in (report.failed_checks, report.passed_checks)]))
"""


@pytest.fixture(scope="module")
def python() -> Path:
    found = find_python()
    if found is None:
        pytest.skip("Checkov is not installed: `make checkov`")
    return found


@pytest.fixture(scope="module")
def engine(python: Path) -> Iterator[CheckovEngine]:
    made = CheckovEngine(python, workers=2)
    yield made
    made.close()


def failed(report: EngineReport) -> set[tuple[str, str]]:
    assert report.status == "answered", report.detail
    return {(finding.rule, finding.address) for finding in report.findings}


def failures(report: EngineReport) -> list[tuple[str, str]]:
    return [(finding.rule, finding.address) for finding in report.findings]


def plain_address(pair: tuple[str, str]) -> list[str]:
    """A verdict by Checkov's own address: for a module call that is its bare name."""
    check, address = pair
    call = re.fullmatch(r"module\.(\w+)", address)
    return [check, call[1] if call else address.replace("data.", "")]


def test_its_verdicts_are_those_of_plain_checkov(engine: CheckovEngine, python: Path, data_dir: Path) -> None:
    rows = (data_dir / "checkov_tf.jsonl").read_text().splitlines()[::EVERY]
    texts = [json.loads(row)["hcl"] for row in rows]
    plain = subprocess.run(
        [python, "-W", "ignore", "-c", PLAIN],
        input="".join(json.dumps(text) + "\n" for text in texts),
        env={"PATH": os.defpath, "LOG_LEVEL": "CRITICAL"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    differ = []
    for text, line in zip(texts, plain.stdout.splitlines(), strict=True):
        report = engine.scan({"main.tf": text})
        ours = [sorted(map(plain_address, pairs)) for pairs in (failures(report), report.passed)]
        if ours != json.loads(line):
            differ.append(text)
    assert len(texts) > 20
    assert differ == []


def test_a_comment_hides_nothing(engine: CheckovEngine) -> None:
    hidden = VOLUME.replace("{\n", "{\n  # checkov:skip=CKV_AWS_3: no reason\n  #checkov:skip=CKV_AWS_189:none\n", 1)
    assert failed(engine.scan({"main.tf": hidden})) == failed(engine.scan({"main.tf": VOLUME}))


def test_instances_have_addresses_of_their_own(engine: CheckovEngine) -> None:
    each = VOLUME.replace("{\n", '{\n  for_each = toset(["a", "b"])\n', 1)
    found = failed(engine.scan({"main.tf": each}))
    assert {("CKV_AWS_3", f'aws_ebs_volume.data["{key}"]') for key in "ab"} <= found


def test_addresses_are_those_of_terraform(engine: CheckovEngine) -> None:
    data = 'data "aws_iam_policy_document" "all" {\n  statement {\n    actions = ["*"]\n    resources = ["*"]\n  }\n}\n'
    calls = 'module "here" {\n  source = "./here"\n}\n\nmodule "far" {\n  source = "far/away/aws"\n}\n'
    found = failed(engine.scan({"main.tf": data + calls, "here/main.tf": data}))
    assert {address for check, address in found if check == "CKV_AWS_49"} == {
        "data.aws_iam_policy_document.all",
        "module.here.data.aws_iam_policy_document.all",
    }
    assert ("CKV_TF_1", "module.far") in found


def test_values_of_variables_are_used(engine: CheckovEngine) -> None:
    text = 'variable "safe" {\n  default = false\n}\n' + VOLUME.replace("false", "var.safe")
    found = ("CKV_AWS_3", "aws_ebs_volume.data")
    assert found in failed(engine.scan({"main.tf": text}))
    assert found not in failed(engine.scan({"main.tf": text}, {"safe": True}))
    assert found not in failed(engine.scan({"main.tf": text, "x.auto.tfvars": "safe = true\n"}))


def test_json_syntax_is_not_passed_over_in_silence(engine: CheckovEngine) -> None:
    report = engine.scan({"main.tf": VOLUME, "more.tf.json": "{}"})
    assert report.status == "failed"
    assert "more.tf.json" in report.detail
    assert ("CKV_AWS_3", "aws_ebs_volume.data") in {(one.rule, one.address) for one in report.findings}


@pytest.mark.parametrize("source", ["{folder}", "../{up}{folder}"])
def test_files_outside_of_the_module_are_out_of_reach(engine: CheckovEngine, tmp_path: Path, source: str) -> None:
    (tmp_path / "main.tf").write_text(VOLUME)
    named = source.format(folder=tmp_path, up="../" * 20)
    report = engine.scan({"main.tf": f'module "other" {{\n  source = "{named}"\n}}\n'})
    assert [one for one in report.findings if "aws_ebs_volume" in one.address] == []


def test_threads_get_the_same_answers(engine: CheckovEngine) -> None:
    texts = [VOLUME.replace("data", f"data{number}") for number in range(12)]
    one_by_one = [failed(engine.scan({"main.tf": text})) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert [failed(one) for one in threads.map(lambda text: engine.scan({"main.tf": text}), texts)] == one_by_one


def test_a_python_without_checkov_is_missing_and_says_what_to_do() -> None:
    report = CheckovEngine(Path(sys.executable)).scan({"main.tf": VOLUME})
    assert report.status == "missing"
    assert "make checkov" in report.detail


def test_a_python_that_is_not_there_is_missing_and_is_named(tmp_path: Path) -> None:
    report = CheckovEngine(tmp_path / "python").health()
    assert report.status == "missing"
    assert str(tmp_path / "python") in report.detail
    assert "RL_GYM_CHECKOV_PYTHON" in report.detail


def test_the_environment_of_the_working_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_gym.iac.engines.checkov._CHECKOUT", tmp_path / "installed")
    monkeypatch.chdir(tmp_path)
    assert find_python() is None
    (tmp_path / ".venv-checkov" / "bin").mkdir(parents=True)
    (tmp_path / ".venv-checkov" / "bin" / "python").symlink_to(sys.executable)
    assert find_python() == tmp_path / ".venv-checkov" / "bin" / "python"


def test_threads_that_ask_first_share_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[checkov.WorkerPool] = []

    class SlowPool(checkov.WorkerPool):
        def __init__(self, *arguments: Any) -> None:
            made.append(self)
            time.sleep(0.05)
            super().__init__(*arguments)

    monkeypatch.setattr(checkov, "WorkerPool", SlowPool)
    engine = CheckovEngine(Path(sys.executable))
    with ThreadPoolExecutor(2) as threads:
        reports = list(threads.map(engine.scan, [{"main.tf": VOLUME}] * 2))
    engine.close()
    assert [report.status for report in reports] == ["missing", "missing"]
    assert len(made) == 1


def test_it_stands_beside_the_rules_and_changes_nothing_of_theirs(python: Path) -> None:
    alone, both = scan(VOLUME), scan(VOLUME, engines=("builtin", "checkov"))
    (beside,) = both.engines
    assert "CKV_AWS_3" in {finding.rule for finding in beside.findings}
    assert (alone.verdicts, alone.security, alone.gates) == (both.verdicts, both.security, both.gates)
    get_engine("checkov").close()


PARENT = """\
import sys
from pathlib import Path
from rl_gym.iac.engines import module_folder
from rl_gym.iac.engines.checkov import CheckovEngine
module_folder._RAM = Path(sys.argv[2])
engine = CheckovEngine(Path(sys.argv[1]))
engine.health()
print(*(worker._process.pid for worker in engine._pool._alive), flush=True)
engine.scan({"main.tf": 'resource "aws_ebs_volume" "x" {\\n  count = 100000\\n}\\n'})
"""


def test_workers_end_with_whom_they_work_for_and_leave_nothing(python: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(python), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        warm = processor_ticks(worker)
        until(lambda: processor_ticks(worker) > warm + 20)
        parent.send_signal(signal.SIGKILL)
    until(lambda: processor_ticks(worker) == 0)
    assert list(tmp_path.iterdir()) == []


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processor_ticks(process: int) -> int:
    """What a process used in user mode, in ticks of the clock; 0 where it has ended."""
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return 0 if state == "Z" else int(fields[10])
