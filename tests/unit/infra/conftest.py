"""A server that speaks S3, one for all tests of a process, and credentials for it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from tests.unit.infra.s3_server import S3Server, running

SECRETS = {"AWS_SECRET_ACCESS_KEY": "secret-access-key", "AWS_SESSION_TOKEN": "secret-session-token"}


@pytest.fixture(scope="session")
def s3_process() -> Iterator[S3Server]:
    with running() as server:
        yield server


@pytest.fixture
def s3(s3_process: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """The server, without faults, and with a prefix of its own."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access-key")
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    s3_process.prefix = uuid.uuid4().hex
    s3_process.asked.clear()
    yield s3_process
    s3_process.faults.clear()
    s3_process.ignored.clear()
