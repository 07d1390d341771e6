"""What every service promises in its OpenAPI: no 5xx, one shape of error, answers of the schema that is told."""

from __future__ import annotations

import json
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import response_schema_conformance

from rl_gym.wire import ErrorBody

__all__ = ["check_operation", "check_refused"]


def check_refused(address: str, path: str, body: bytes, status: int) -> None:
    """Post a body that makes no sense: it is refused by this status, in the one shape of errors."""
    response = httpx.post(f"{address}{path}", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status
    assert ErrorBody.model_validate(response.json()).request_id == response.headers["x-request-id"]


def check_operation(address: str, document: Any, operation: str, mode: GenerationMode, examples: int = 25) -> None:
    """Send generated requests of one operation, such as `POST /score`, to a service."""
    method, path = operation.split()
    schema = schemathesis.openapi.from_dict(document)

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
    )
    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        response = case.call(base_url=address, timeout=60)
        assert response.status_code < 500, response.text
        if response.status_code >= 400:
            ErrorBody.model_validate(json.loads(response.content))
        else:
            case.validate_response(response, checks=[response_schema_conformance])

    check()
