"""What this machine lends to stages, by the settings of whoever runs the command."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.infra.errors import NotFoundError
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.training.local import local_means


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("POLICY", "PROMOTION_KEY", "PROMOTION_KEYS", "SIGNING_KEY"):
        monkeypatch.delenv(f"RL_GYM_{name}", raising=False)
    monkeypatch.setenv("RL_GYM_OBJECTS", str(tmp_path / "objects"))


def test_a_store_is_there_and_a_key_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    means = local_means()
    assert (means.promotion_key, means.promotion_keys, means.policy) == (None, None, "")
    assert means.store is not None
    means.store.put("traffic/mix.jsonl", b"{}")
    assert any(path.is_file() for path in (tmp_path / "objects").rglob("*"))

    key = SigningKey.generate()
    key.write(tmp_path / "key.pem")
    monkeypatch.setenv("RL_GYM_PROMOTION_KEY", str(tmp_path / "key.pem"))
    monkeypatch.setenv("RL_GYM_POLICY", "http://127.0.0.1:8082")
    means = local_means()
    assert means.promotion_key is not None
    assert (means.promotion_key.public, means.promotion_keys) == (key.public, None)
    assert means.policy == "http://127.0.0.1:8082"
    monkeypatch.setenv("RL_GYM_PROMOTION_KEYS", str(key.public))
    assert local_means().promotion_keys == KeyRing((key.public,))


def test_a_key_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_PROMOTION_KEY", str(tmp_path / "none.pem"))
    with pytest.raises(NotFoundError, match=r"key file .*: no such file"):
        local_means()
