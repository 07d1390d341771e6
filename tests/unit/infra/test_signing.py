"""Keys: made, written for their owner alone, loaded from what settings say, and never shown."""

from __future__ import annotations

import base64
import hashlib
import stat
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.signing import KeyRing, SigningKey

KEY, OTHER = SigningKey.generate(), SigningKey.generate()


def raw(key: SigningKey) -> str:
    return base64.b64encode(key.key.private_bytes_raw()).decode()


def public_pem(key: SigningKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public.key.public_bytes(serialization.Encoding.PEM, form).decode()


def test_what_one_key_signed_only_its_own_public_half_confirms() -> None:
    signature = KEY.sign(b"data")
    assert KEY.public.verify(signature, b"data")
    assert not KEY.public.verify(signature, b"other data")
    assert not OTHER.public.verify(signature, b"data")
    assert not KEY.public.verify(b"short", b"data")


@pytest.mark.parametrize("form", ["pem", "base64", "pem file", "base64 file"])
def test_a_key_is_loaded_from_every_form(form: str, tmp_path: Path) -> None:
    text = KEY.pem() if form.startswith("pem") else raw(KEY)
    if form.endswith("file"):
        (tmp_path / "key").write_text(text)
        text = str(tmp_path / "key")
    assert SigningKey.load(text).public == KEY.public


def test_a_written_key_is_its_owners_alone_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    KEY.write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load(str(path)).public == KEY.public
    with pytest.raises(UsageError, match="never overwritten"):
        OTHER.write(path)


def test_a_ring_holds_keys_of_every_form_and_tells_which_signed(tmp_path: Path) -> None:
    others = "\n".join(str(SigningKey.generate().public) for _ in range(2))
    (tmp_path / "old.pub").write_text(f"{public_pem(OTHER)}{others}\n")
    ring = KeyRing.load(f"{KEY.public}, {tmp_path / 'old.pub'},{KEY.public}")
    assert len(ring.keys) == 4
    assert ring.verify(OTHER.sign(b"x"), b"x") == OTHER.public
    assert ring.verify(SigningKey.generate().sign(b"x"), b"x") is None
    assert ring.get(KEY.public.id) == KEY.public
    assert ring.get(None) is None
    assert not KeyRing.load("")


def test_a_key_is_known_by_the_digest_of_its_bytes() -> None:
    assert KEY.public.id == hashlib.sha256(KEY.public.raw).hexdigest()[:16]


def test_what_is_no_key_is_refused_without_being_shown(tmp_path: Path) -> None:
    curve = generate_private_key(SECP256R1())
    form = serialization.NoEncryption()
    other_kind = curve.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, form).decode()
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "text").write_text("not a key")
    with pytest.raises(UsageError, match="an Ed25519 key is needed"):
        SigningKey.load(other_kind)
    encoding, public = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    with pytest.raises(UsageError, match="an Ed25519 key is needed"):
        KeyRing.load(curve.public_key().public_bytes(encoding, public).decode())
    with pytest.raises(NotFoundError, match="no such file"):
        SigningKey.load(str(tmp_path / "nowhere"))
    for load in (SigningKey.load, KeyRing.load):
        for name in ("binary", "text"):
            with pytest.raises(UsageError):
                load(str(tmp_path / name))
    mistyped = raw(KEY)[:-2]
    with pytest.raises(UsageError) as refusal:
        SigningKey.load(mistyped)
    assert mistyped not in str(refusal.value)
    with pytest.raises(UsageError, match="at most 16"):
        KeyRing.load(",".join(str(SigningKey.generate().public) for _ in range(17)))


def test_a_file_of_keys_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"{KEY.public}\n" + "\n" * (64 << 10))
    with pytest.raises(UsageError, match=r"^key file .*: larger than 64 KiB$"):
        KeyRing.load(str(path))


def test_a_signing_key_does_not_show_itself() -> None:
    assert raw(KEY) not in f"{KEY!r} {KEY} {KEY.public!r}"
