"""A service that answers as it is told to, for clients to ask."""

from __future__ import annotations

import httpx

Answer = httpx.Response | Exception


class Service:
    """Answers in turn, the last one for ever, and keeps what it was sent."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def refusal(code: str, status: int, **headers: str) -> httpx.Response:
    body = {"error": code, "detail": "why", "request_id": "r"}
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()})
