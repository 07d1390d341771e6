"""Ed25519 signatures: keys made and loaded, data signed, and checked against the public keys that are in use.

A key is rotated by listing the new public key beside the old one until nothing signed by the old one is left.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError

__all__ = ["KeyRing", "PublicKey", "SigningKey"]

_RAW = re.compile(r"[A-Za-z0-9+/]{43}=")
_PEM = re.compile(r"-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----", re.DOTALL)
_LIKE_A_KEY = re.compile(r"[A-Za-z0-9+/=_\s-]{30,}|.*(PRIVATE|BEGIN).*", re.DOTALL)
_MOST_KEYS = 16
_MAX_FILE_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that checks. `id` is the first sixteen hex digits of the SHA-256 of its 32 bytes."""

    raw: bytes

    @property
    def id(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()[:16]

    @property
    def key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Whether the owner of this key signed `data`."""
        try:
            self.key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        """The 32 bytes in base64: how settings name the key."""
        return base64.b64encode(self.raw).decode()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs. Neither its representation nor an error of its loading shows it."""

    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, text: str) -> SigningKey:
        """From PEM, from 32 bytes in base64, or from a file that holds either.

        Raises UsageError where the text is no key, NotFoundError where it names no file.
        """
        text = _contents(text.strip())
        try:
            if _RAW.fullmatch(text):
                return cls(Ed25519PrivateKey.from_private_bytes(base64.b64decode(text)))
            key = serialization.load_pem_private_key(text.encode(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm, binascii.Error):
            raise UsageError("signing key: neither an Ed25519 key in PEM nor 32 bytes in base64") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise UsageError("signing key: an Ed25519 key is needed")
        return cls(key)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.key.public_key().public_bytes_raw())

    def sign(self, data: bytes) -> bytes:
        """64 bytes."""
        return self.key.sign(data)

    def pem(self) -> str:
        """The key in PEM (PKCS 8, not encrypted): for a file that only its owner reads, see `write`."""
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(encoding, form, serialization.NoEncryption()).decode()

    def write(self, path: Path) -> None:
        """Write the key to a new file that only its owner may read. Raises UsageError where the file exists."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise UsageError(f"{path} exists already: a key is never overwritten") from None
        except OSError as error:
            raise InfrastructureError(f"{path}: {error.strerror}") from error
        with os.fdopen(descriptor, "w") as file:
            file.write(self.pem())


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The public keys in use, by id."""

    keys: tuple[PublicKey, ...] = ()

    @classmethod
    def load(cls, text: str) -> KeyRing:
        """From keys in base64 and files, separated by commas; a file holds keys in base64, a line each, or in PEM.

        Raises UsageError where something is no key, NotFoundError where a file is not there.
        """
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        found = tuple(dict.fromkeys(key for entry in entries for key in _public_keys(_contents(entry))))
        if len(found) > _MOST_KEYS:
            raise UsageError(f"{len(found)} public keys; at most {_MOST_KEYS} are taken")
        return cls(found)

    def __bool__(self) -> bool:
        return bool(self.keys)

    def get(self, key_id: object) -> PublicKey | None:
        """The key of this id, None where it is not in use."""
        return next((key for key in self.keys if key.id == key_id), None)

    def verify(self, signature: bytes, data: bytes) -> PublicKey | None:
        """The key that signed `data`, None where none of these did."""
        return next((key for key in self.keys if key.verify(signature, data)), None)


def _contents(text: str) -> str:
    """A key as it stands, or what is in the file that the text names."""
    if _RAW.fullmatch(text) or text.startswith("-----BEGIN"):
        return text
    try:
        with Path(text).open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) <= _MAX_FILE_BYTES:
            return content.decode().strip()
    except FileNotFoundError:
        raise NotFoundError(f"key file {_shown(text)}: no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"key file {_shown(text)} cannot be read: {type(error).__name__}") from None
    raise UsageError(f"key file {_shown(text)}: larger than {_MAX_FILE_BYTES >> 10} KiB")


def _shown(text: str) -> str:
    """A path to name in an error; what may be a mistyped key is not shown."""
    return "(not shown: it may be a key)" if _LIKE_A_KEY.fullmatch(text) else repr(text[:200])


def _public_keys(text: str) -> Iterator[PublicKey]:
    for pem in _PEM.findall(text):
        yield _from_pem(pem)
    for line in _PEM.sub("", text).split():
        if not _RAW.fullmatch(line):
            raise UsageError("public key: neither an Ed25519 key in PEM nor 32 bytes in base64")
        yield PublicKey(base64.b64decode(line))


def _from_pem(pem: str) -> PublicKey:
    try:
        key = serialization.load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError("public key: the PEM holds no public key") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError("public key: an Ed25519 key is needed")
    return PublicKey(key.public_bytes_raw())
