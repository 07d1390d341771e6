"""`python -m services.NAME`: what is wrong with how a service is started is one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

ROOT = Path(__file__).parents[3]
SERVICES = ["verifier", "policy", "trainer"]
WITHOUT = "import runpy, sys; sys.modules[{!r}] = None; runpy.run_module('services.{}', run_name='__main__')"


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("package", ["structlog", "fastapi", "prometheus_client"])
def test_a_package_that_is_absent_is_named_with_its_extra(service: str, package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package, service)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: this needs the package {package}: pip install 'rl-gym[services]'\n"


@pytest.mark.parametrize("service", SERVICES)
def test_a_setting_that_cannot_be_is_one_line_after_the_misspelt_one(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    misspelt = f"RL_GYM_{service.upper()}_WORKRS"
    monkeypatch.setenv(misspelt, "3")
    monkeypatch.setenv(f"RL_GYM_{service.upper()}_HOST", "0.0.0.0")
    done = subprocess.run(
        [sys.executable, "-m", f"services.{service}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    warning, error = done.stderr.splitlines()
    assert f'"variable": "{misspelt}"' in warning
    assert error.startswith("error: ")
    assert done.returncode == 1
