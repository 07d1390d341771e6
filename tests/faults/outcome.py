"""What has to hold of a run that has ended, whatever happened on the way."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

from rl_gym.infra.object_store import open_store
from rl_gym.wire import Run
from rl_gym.wire.run import LOG
from services.trainer.artifacts import read_artifacts
from tests.faults.deployment import Deployment
from tests.faults.undisturbed import is_result

__all__ = ["assert_ended_right", "stored_file"]

_BYTES = 1 << 26


def assert_ended_right(deployment: Deployment, run: Run, expected: Mapping[str, str] | None = None) -> None:
    """Each stage was done once, and what it made is stored whole, is what counts, and is all that is stored.

    Where `expected` is given, the results are those, to the byte.
    """
    now = deployment.delivery.run(run.id)
    stages = [stage.stage for stage in now.stages]
    assert now.state == "done"
    assert {stage.state for stage in now.stages} == {"done"}
    _assert_events(deployment, run, stages)
    files = _assert_stored(deployment, run)
    made = {f"{stage.stage}": stage.manifest_digest for stage in now.stages}
    assert made == {stage: digest for stage, digest in _manifests(deployment, run).items() if digest}
    models = [model.name for model in deployment.delivery.models() if model.run == run.id]
    assert sorted(models) == [f"{run.id}-{stage}" for stage in ("grpo", "sft") if stage in stages]
    if expected is not None:
        wanted = {name: digest for name, digest in expected.items() if name.partition("/")[0] in stages}
        assert {name: digest for name, digest in files.items() if is_result(name)} == wanted


def stored_file(deployment: Deployment, run: Run, stage: str, name: str) -> bytes:
    """A file that a stage has ended with."""
    store = open_store(deployment.settings.objects)
    found = read_artifacts(store, run.id, stage)
    assert found is not None
    return store.get(f"runs/{run.id}/{stage}/{found.digest[:16]}/{name}", max_bytes=_BYTES).body


def _assert_events(deployment: Deployment, run: Run, stages: list[str]) -> None:
    events = deployment.told(run)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert Counter(event.stage for event in events if event.state == "done") == Counter([*stages, None])


def _assert_stored(deployment: Deployment, run: Run) -> dict[str, str]:
    """The files of all stages and their digests, which are what their manifests say; nothing else is stored."""
    store = open_store(deployment.settings.objects)
    files: dict[str, str] = {}
    keys = {f"runs/{run.id}/run.json"}
    for stage in deployment.delivery.run(run.id).stages:
        found = read_artifacts(store, run.id, stage.stage)
        assert found is not None
        keys.add(f"runs/{run.id}/{stage.stage}/manifest.json")
        for name, digest in found.files.items():
            key = f"runs/{run.id}/{stage.stage}/{found.digest[:16]}/{name}"
            assert hashlib.sha256(store.get(key, max_bytes=_BYTES).body).hexdigest() == digest
            keys.add(key)
            files[f"{stage.stage}/{name}"] = digest
    # Where something was printed, beside what counts.
    logs = {f"runs/{run.id}/{stage.stage}/{LOG}" for stage in run.stages}
    assert set(store.list(f"runs/{run.id}/")) - logs == keys
    return files


def _manifests(deployment: Deployment, run: Run) -> dict[str, str]:
    store = open_store(deployment.settings.objects)
    found = {stage.stage: read_artifacts(store, run.id, stage.stage) for stage in run.stages}
    return {stage: artifacts.digest for stage, artifacts in found.items() if artifacts}
