"""Digests of text."""

from __future__ import annotations

import base64
import hashlib
import uuid

from rl_gym.hcl.budget import NoValueError
from rl_gym.hcl.conversion import STRING
from rl_gym.hcl.functions.registry import function, unpredictable

_NAMESPACES = {
    "dns": uuid.NAMESPACE_DNS,
    "url": uuid.NAMESPACE_URL,
    "oid": uuid.NAMESPACE_OID,
    "x500": uuid.NAMESPACE_X500,
}


@function("md5", STRING)
def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@function("sha1", STRING)
def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@function("sha256", STRING)
def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@function("sha512", STRING)
def sha512(text: str) -> str:
    return hashlib.sha512(text.encode()).hexdigest()


@function("base64sha256", STRING)
def base64sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@function("base64sha512", STRING)
def base64sha512(text: str) -> str:
    return base64.b64encode(hashlib.sha512(text.encode()).digest()).decode()


@function("uuidv5", STRING, STRING)
def uuidv5(namespace: str, name: str) -> str:
    known = _NAMESPACES.get(namespace)
    if known is None:
        try:
            known = uuid.UUID(namespace)
        except ValueError:
            raise NoValueError('a namespace is "dns", "url", "oid", "x500" or a UUID') from None
    return str(uuid.uuid5(known, str(name)))


unpredictable("bcrypt", "uuid", "rsadecrypt")
