"""Requests to S3 by boto3, bounded in time and tries; whatever fails is an error of the family, without a secret."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from boto3.session import Session
from botocore import exceptions
from botocore.config import Config
from urllib3.exceptions import HTTPError

from rl_gym.infra.errors import InfrastructureError, one_line
from rl_gym.infra.s3.place import Place

__all__ = ["TRANSPORT_ERRORS", "Connection", "RefusedError"]

TRANSPORT_ERRORS = (exceptions.BotoCoreError, HTTPError, OSError)
"""What is raised where no answer arrives, or only a part of one."""

_CONNECT_SECONDS = 5
_READ_SECONDS = 30
_TRIES = 4
_CONNECTIONS = 32

_NEEDED = "s3:ListBucket on the bucket, s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload in it"
_DENIED = f"access is denied: its user needs {_NEEDED}"
_REFUSED = "the credentials are refused: see AWS_ACCESS_KEY_ID, or the profile or the role that is in use"
_REGION = "the bucket lies in another region: name that in AWS_REGION, or as region= in the address"
_NO_CREDENTIALS = "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role"
_MEANINGS = {
    "NoSuchBucket": "there is no such bucket: make it, or name another",
    "AccessDenied": _DENIED,
    "AllAccessDisabled": _DENIED,
    "403": _DENIED,
    "InvalidAccessKeyId": _REFUSED,
    "SignatureDoesNotMatch": _REFUSED,
    "InvalidToken": _REFUSED,
    "ExpiredToken": _REFUSED,
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "301": _REGION,
    "400": f"the request was refused; it may be that {_REGION}",
}
_CREDENTIAL_ERRORS = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.ProfileNotFound,
    exceptions.TokenRetrievalError,
    exceptions.SSOError,
)
_BROKEN = (
    exceptions.ConnectionError,
    exceptions.HTTPClientError,
    exceptions.IncompleteReadError,
    exceptions.ResponseStreamingError,
    HTTPError,
    OSError,
)


class RefusedError(InfrastructureError):
    """S3 answered with an error.

    Attributes: `reason`, its word for it; `http_status`; `retried`, whether an earlier try of the same request came
    without an answer, or with one that leaves open what it did.
    """

    def __init__(self, message: str, reason: str, http_status: int, retried: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.http_status = http_status
        self.retried = retried

    @property
    def missing(self) -> bool:
        """Whether it is the object that is not there; an answer to HEAD has no other word than the status."""
        return self.reason in ("NoSuchKey", "404", "NotFound")


@dataclass(frozen=True, slots=True)
class Connection:
    """What asks the server of a place; safe among threads, and in a process that was forked off."""

    place: Place

    def call(self, operation: str, key: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The answer to one operation of boto3, on the object `key` where one is given.

        Tried a few times, with growing pauses, where the fault may pass. Raises RefusedError for an answer that is an
        error, InfrastructureError where none arrived.
        """
        if key is not None:
            arguments["Key"] = self.place.prefix + key
        try:
            client = _client(self.place.endpoint, self.place.region, os.getpid())
            answer: dict[str, Any] = getattr(client, operation)(Bucket=self.place.bucket, **arguments)
        except exceptions.ClientError as error:
            raise self._refusal(error, key) from None
        except (*TRANSPORT_ERRORS, ValueError) as error:
            raise self.fault(_meaning(error), key) from None
        return answer

    def fault(self, what: str, key: str | None = None) -> InfrastructureError:
        """An error that says where it happened."""
        return InfrastructureError(self._placed(what, key))

    def unreadable(self, error: Exception, key: str) -> InfrastructureError:
        """What to raise for one of TRANSPORT_ERRORS."""
        return self.fault(_meaning(error), key)

    def _refusal(self, error: exceptions.ClientError, key: str | None) -> RefusedError:
        told = error.response.get("Error", {})
        answered = error.response.get("ResponseMetadata", {})
        reason, status = one_line(str(told.get("Code", "")), 80), int(answered.get("HTTPStatusCode", 0))
        meaning = _MEANINGS.get(reason, f"it answered {reason} with status {status}")
        return RefusedError(self._placed(meaning, key), reason, status, answered.get("RetryAttempts", 0) > 0)

    def _placed(self, what: str, key: str | None) -> str:
        return f"object store {self.place}{'' if key is None else f', {key!r}'}: {what}"


def _meaning(error: Exception) -> str:
    """What happened, in words of ours: those of the libraries may hold addresses with what is secret."""
    if isinstance(error, _CREDENTIAL_ERRORS):
        return _NO_CREDENTIALS
    if isinstance(error, exceptions.SSLError):
        return "its certificate is not accepted: AWS_CA_BUNDLE names the file of the authorities"
    if isinstance(error, exceptions.ConnectTimeoutError | exceptions.ReadTimeoutError):
        return "no answer in time"
    if isinstance(error, _BROKEN):
        return "it cannot be reached, or breaks off"
    if isinstance(error, ValueError):
        return "its endpoint is no address: see AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL"
    return f"boto3 cannot ask it: {type(error).__name__}"


@lru_cache(maxsize=16)
def _client(endpoint: str, region: str, process: int) -> Any:
    """A client of boto3, which threads may share and processes may not."""
    # At DEBUG it logs requests with their headers, among which is the token of a session.
    for name in ("boto3", "botocore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        max_pool_connections=_CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": _TRIES},
        # Other servers than Amazon's do not know the newer checksums; a body is signed by its SHA-256 as it is.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = Session()
    return session.client("s3", endpoint_url=endpoint or None, region_name=region or None, config=config)
