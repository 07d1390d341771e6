"""Making the environment: once, from the right sources, and with a word about what went wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from deploy.local import setup


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "deploy" / "local").mkdir(parents=True)
    (tmp_path / "deploy/local/setup.py").write_text("script")
    for build in setup.BUILDS.values():
        for name in (build.constraints, *build.declared):
            (tmp_path / name).write_text(name)
        (tmp_path / build.folder).mkdir(exist_ok=True)
    return tmp_path


def stamp(project: Path, build: str) -> None:
    folder = project / setup.BUILDS[build].folder
    (folder / "rl-gym.stamp").write_text(f"{setup.fingerprint(project, build)} {build}\n")


def test_an_environment_is_made_once(project: Path) -> None:
    assert not setup.is_ready(project, "cpu")
    stamp(project, "cpu")
    assert setup.is_ready(project, "cpu")


def test_a_changed_declaration_makes_it_again(project: Path) -> None:
    stamp(project, "cpu")
    (project / "constraints.txt").write_text("torch==9")
    assert not setup.is_ready(project, "cpu")


def test_a_full_environment_serves_as_the_core_but_not_the_other_way(project: Path) -> None:
    stamp(project, "cpu")
    assert setup.is_ready(project, "core")
    stamp(project, "core")
    assert not setup.is_ready(project, "cpu")


def test_checkovs_environment_is_its_own(project: Path) -> None:
    stamp(project, "cpu")
    assert not setup.is_ready(project, "checkov")
    stamp(project, "checkov")
    (project / "constraints.txt").write_text("torch==9")
    assert setup.is_ready(project, "checkov")
    (project / "constraints-checkov.txt").write_text("checkov==9")
    assert not setup.is_ready(project, "checkov")


def test_vllms_environment_is_its_own(project: Path) -> None:
    stamp(project, "cpu")
    assert not setup.is_ready(project, "vllm")
    stamp(project, "vllm")
    assert setup.is_ready(project, "vllm")
    (project / "deploy/local/vllm-excluded.txt").write_text("torchvision")
    assert not setup.is_ready(project, "vllm")


def test_a_damaged_stamp_is_no_stamp(project: Path) -> None:
    (project / ".venv" / "rl-gym.stamp").write_text("half")
    assert not setup.is_ready(project, "cpu")


def test_the_cuda_build_is_never_taken_for_the_cpu_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    sources = dict(setup.torch_sources("cpu", {"PIP_FIND_LINKS": "/wheels /more"}))
    assert list(sources) == [
        "torch for the CPU from PIP_FIND_LINKS",
        "torch for the CPU",
        "the registry's own build of torch (on Linux: CUDA, 5 GB on disk)",
    ]
    local, index, registry = sources.values()
    assert local[-2:] == ["--find-links=/wheels", "--find-links=/more"]
    for options in (local, index):
        assert re.fullmatch(r"torch==[0-9.]+\+cpu", options[0])
    assert "--torch-backend" in index
    assert registry == ["--find-links=/wheels", "--find-links=/more"]


def test_vllm_takes_its_own_torch_for_the_cpu_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    sources = dict(setup.torch_sources("vllm", {"PIP_FIND_LINKS": "/wheels"}))
    assert list(sources) == ["torch for the CPU from PIP_FIND_LINKS", "torch for the CPU"]
    pinned = re.search(r"^torch==\S+$", (setup.ROOT / "constraints-vllm.txt").read_text(), re.MULTILINE)
    assert pinned
    assert {options[0] for options in sources.values()} == {f"{pinned[0]}+cpu"}


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-checkov.txt", "constraints-vllm.txt"])
def test_versions_are_pinned_by_name_and_number_alone(name: str) -> None:
    lines = [line for line in (setup.ROOT / name).read_text().splitlines() if not line.startswith("#")]
    assert lines == [line for line in lines if re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.]+", line)]


@pytest.mark.parametrize("build", ["core", "checkov"])
def test_without_torch_there_is_nothing_to_choose(build: str) -> None:
    assert list(setup.torch_sources(build, {"PIP_FIND_LINKS": "/wheels"})) == [("", [])]


def test_a_gpu_build_replaces_the_one_that_is_there() -> None:
    ((_, options),) = setup.torch_sources("gpu", {})
    assert options == ["--torch-backend", "auto", "--reinstall-package", "torch"]


def test_uv_hears_what_was_said_to_pip() -> None:
    said = {"PIP_INDEX_URL": "https://mirror", "PIP_CERT": "/ca.pem", "UV_DEFAULT_INDEX": "https://own", "HOME": "/h"}
    heard = setup.registry_environment(said)
    assert heard["UV_DEFAULT_INDEX"] == "https://own"
    assert heard["SSL_CERT_FILE"] == "/ca.pem"
    assert "UV_INDEX" not in heard


@pytest.mark.parametrize(
    ("output", "meaning"),
    [
        ("error: failed\n  cause: dns error\n", "is there a network?"),
        ("OSError: [Errno 28] No space left on device\n", "the disk is full"),
        ("The virtual environment was not created: ensurepip is not available", "python3-venv"),
        ("one\nerror: no solution found\n  cause: x\n", "error: no solution found"),
        ("last words\n", "last words"),
        ("", "without a word"),
    ],
)
def test_a_failed_step_is_told_in_one_line(output: str, meaning: str) -> None:
    assert meaning in setup.diagnose(output)


def test_a_python_that_is_too_old_or_too_new_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setattr(sys, "version", "3.13.0 (main)")
    with pytest.raises(setup.SetupError, match=r"3\.11 or 3\.12 is needed, not 3\.13\.0"):
        setup.make_environment(project, "cpu")
