"""What every engine beside the built-in rules must do, whatever it is; one that is absent is skipped, and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from rl_gym.iac.engines import EngineFinding, EngineReport, ScanEngine
from rl_gym.iac.engines.checkov import CheckovEngine, find_python
from rl_gym.iac.engines.terraform import TerraformEngine

CLEAN = """\
resource "aws_ebs_volume" "data" {
  availability_zone = "eu-west-1a"
  size              = 8
  encrypted         = true
}
"""
MALFORMED = 'resource "aws_ebs_volume" "data" {\n  size = \n}\n'
CALL = 'module "disk" {\n  source = "./disk"\n}\n'
ENDLESS = CLEAN.replace("size ", "count = 100000\n  size ")


class Fault(NamedTuple):
    """A text that an engine finds fault with, and how."""

    text: str
    check: str
    line: int


FAULTS = {
    "checkov": Fault(CLEAN.replace("true", "false"), "CKV_AWS_3", 1),
    "terraform": Fault(CLEAN.replace("size ", "sizes "), "Unsupported argument", 3),
}


MakeEngine = Callable[[float], ScanEngine]


@pytest.fixture(scope="module", params=["checkov", pytest.param("terraform", marks=pytest.mark.slow)])
def make_engine(request: pytest.FixtureRequest) -> Iterator[MakeEngine]:
    """Makes the engine with a bound in seconds on one module."""
    made: list[ScanEngine] = []

    def make(seconds: float) -> ScanEngine:
        made.append(_make(request, seconds))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def _make(request: pytest.FixtureRequest, seconds: float) -> ScanEngine:
    if request.param == "terraform":
        mirror = request.getfixturevalue("provider_mirror")
        return TerraformEngine(request.getfixturevalue("terraform"), mirror, seconds=seconds)
    python = find_python()
    if python is None:
        pytest.skip("Checkov is not installed: `make checkov`")
    return CheckovEngine(python, workers=1, seconds=seconds)


@pytest.fixture(scope="module")
def engine(make_engine: MakeEngine) -> ScanEngine:
    return make_engine(120.0)


@pytest.fixture(scope="module")
def fault(engine: ScanEngine) -> Fault:
    return FAULTS[engine.name]


def of(report: EngineReport, check: str) -> list[EngineFinding]:
    return [finding for finding in report.findings if finding.rule == check]


def test_it_finds_no_such_fault_with_what_is_right(engine: ScanEngine, fault: Fault) -> None:
    report = engine.scan({"main.tf": CLEAN})
    assert (report.engine, report.status, report.detail) == (engine.name, "answered", "")
    assert report.version
    assert of(report, fault.check) == []


def test_it_says_what_is_wrong_and_where(engine: ScanEngine, fault: Fault) -> None:
    (found,) = of(engine.scan({"main.tf": fault.text}), fault.check)
    assert (found.address, found.filename, found.line) == ("aws_ebs_volume.data", "main.tf", fault.line)
    assert found.reason
    assert found.severity == ""


def test_a_fault_in_a_module_is_named_by_the_file_that_holds_it(engine: ScanEngine, fault: Fault) -> None:
    (found,) = of(engine.scan({"main.tf": CALL, "disk/volume.tf": fault.text}), fault.check)
    assert found.filename == "disk/volume.tf"
    assert found.address.endswith("aws_ebs_volume.data")


def test_a_file_keeps_the_name_that_it_was_given(engine: ScanEngine, fault: Fault) -> None:
    (found,) = of(engine.scan({"../stack/volume.tf": fault.text, "../stack/other.tf": ""}), fault.check)
    assert found.filename == "../stack/volume.tf"


def test_text_that_cannot_be_read_is_never_clean(engine: ScanEngine) -> None:
    report = engine.scan({"main.tf": MALFORMED})
    assert report.status in ("answered", "failed")
    assert "main.tf" in report.detail or {finding.filename for finding in report.findings} == {"main.tf"}


@pytest.mark.parametrize("text", ["\ud800", "\0", "[" * 10_000, 'x = "' + "${" * 200])
def test_hostile_text_is_a_report_too(engine: ScanEngine, text: str) -> None:
    report = engine.scan({"main.tf": text})
    assert report.status != "missing"
    assert report.detail or report.findings


def test_an_empty_file_is_answered(engine: ScanEngine) -> None:
    report = engine.scan({"main.tf": ""})
    assert (report.status, list(report.findings)) == ("answered", [])


def test_what_takes_too_long_is_stopped_and_the_next_is_judged(make_engine: MakeEngine) -> None:
    engine = make_engine(3.0)
    report = engine.scan({"main.tf": ENDLESS})
    assert (report.status, list(report.findings)) == ("timed_out", [])
    assert "3 s" in report.detail
    assert engine.scan({"main.tf": MALFORMED}).status in ("answered", "failed")


def test_it_tells_its_health_and_starts_again_after_it_was_closed(engine: ScanEngine) -> None:
    engine.close()
    report = engine.health()
    assert (report.status, report.detail, list(report.findings)) == ("answered", "", [])
    assert report.version
