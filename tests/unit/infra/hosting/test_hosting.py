"""What every service does around its routes: who is served, how much is read, one error shape, one request id."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, ClassVar

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

import httpx
import structlog
from fastapi import Depends, FastAPI, Request

from rl_gym.infra.errors import BusyError, UsageError
from rl_gym.infra.hosting import BodyLimits, configure_logs, make_app, read_json, refuse_open_binding, require
from rl_gym.infra.hosting.bodies import InFlight
from rl_gym.infra.principals import Issuer, Principal
from rl_gym.infra.settings import ServiceSettings, read_settings
from rl_gym.infra.signing import SigningKey

KEY = SigningKey.generate()
LIMITS = BodyLimits(bytes=1_000, values=50, seconds=0.3)


class EchoSettings(ServiceSettings):
    service: ClassVar[str] = "echo"


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    yield


def make(keys: str = "") -> FastAPI:
    app = make_app(EchoSettings(principal_keys=keys), "echo", lifespan)

    @app.post("/echo")
    async def echo(request: Request, who: Annotated[Principal, Depends(require("echo"))]) -> dict[str, Any]:
        return {"body": await read_json(request, LIMITS), "who": who.subject}

    @app.get("/fail/{how}")
    async def fail(how: str) -> None:
        raise {"busy": BusyError("full", 2.5), "usage": UsageError("no\nway \x1b[31m")}.get(how) or KeyError(how)

    @app.get("/number")
    async def number(n: int) -> int:
        return n

    return app


def call(
    app: FastAPI, method: str, path: str, *, peer: str | None = "127.0.0.1", host: str = "localhost", **options: Any
) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(peer, 1) if peer else None)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def post(app: FastAPI, content: Any, **headers: str) -> httpx.Response:
    named = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return call(app, "POST", "/echo", content=content, headers=named)


def error(response: httpx.Response) -> tuple[int, str, str]:
    """Status, code and detail of an answer that has the one shape."""
    body = response.json()
    assert set(body) == {"error", "detail", "request_id"}
    assert body["request_id"] == response.headers["x-request-id"]
    assert body["detail"].isprintable()
    return response.status_code, body["error"], body["detail"]


class TestBodies:
    def test_json_is_read(self) -> None:
        assert post(make(), '{"a": [1, "é"]}'.encode()).json()["body"] == {"a": [1, "é"]}

    @pytest.mark.parametrize(
        ("content", "status", "reason"),
        [
            (b'{"a": ', 422, "line 1, column 7"),
            (b"", 422, "not JSON"),
            (b"\xff\xfe{\x00}\x00", 422, "not UTF-8"),
            (b"[NaN]", 422, "NaN is no JSON"),
            (b"-Infinity", 422, "no JSON"),
            (b"9" * 900, 200, ""),
            (b'"' + b"x" * 1_001 + b'"', 413, "larger than 1000 bytes"),
            (b"[" * 49, 422, "not JSON"),
            (b"[" * 51, 413, "51 commas and brackets"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, content: bytes, status: int, reason: str) -> None:
        response = post(make(), content)
        assert response.status_code == status
        if status != 200:
            assert reason in error(response)[2]

    def test_nesting_and_numbers_that_python_refuses_are_refused(self) -> None:
        app = make()

        @app.post("/wide")
        async def wide(request: Request) -> Any:
            return await read_json(request, BodyLimits(bytes=1 << 20, values=200_000, seconds=30))

        for content in (b"[" * 100_000, b"9" * 5_000, b'{"a":' * 100_000):
            headers = {"content-type": "application/json"}
            assert error(call(app, "POST", "/wide", content=content, headers=headers))[:2] == (422, "usage")

    def test_the_limit_holds_for_a_body_without_length(self) -> None:
        sent = []

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(1_000):
                sent.append(1)
                yield b" " * 100

        assert error(post(make(), chunks()))[:2] == (413, "too_large")
        assert len(sent) < 20

    def test_an_announced_length_is_refused_before_the_body(self) -> None:
        assert error(post(make(), b"{}", content_length="99999999999999999999999"))[0] == 413

    def test_a_body_that_does_not_come_is_not_waited_for(self) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.sleep(30)

        assert error(post(make(), chunks()))[:2] == (408, "request_timeout")

    @pytest.mark.parametrize(
        "headers",
        [{"content_type": "text/plain"}, {"content_type": ""}, {"content_encoding": "gzip"}],
        ids=str,
    )
    def test_another_kind_of_body_is_refused(self, headers: dict[str, str]) -> None:
        assert error(post(make(), b"{}", **headers))[:2] == (415, "unsupported_media_type")

    def test_no_more_are_held_than_may_be(self) -> None:
        held = InFlight(2)

        async def scenario() -> None:
            for _ in range(2):
                async with held(), held():
                    with pytest.raises(BusyError, match="2 requests are being served"):
                        async with held():
                            pass

        asyncio.run(scenario())
        assert held.count == 0


class TestErrors:
    def test_each_has_the_one_shape(self) -> None:
        app = make()
        assert error(call(app, "GET", "/nowhere"))[:2] == (404, "not_found")
        refused = call(app, "GET", "/echo")
        assert error(refused)[:2] == (405, "method_not_allowed")
        assert refused.headers["allow"] == "POST"
        assert error(call(app, "GET", "/number?n=x"))[:2] == (422, "usage")
        assert error(call(app, "GET", "/fail/usage")) == (422, "usage", "no way [31m")
        busy = call(app, "GET", "/fail/busy")
        assert error(busy)[:2] == (429, "busy")
        assert busy.headers["retry-after"] == "3"

    def test_what_nobody_expected_is_logged_and_not_told(self, caplog: pytest.LogCaptureFixture) -> None:
        status, code, detail = error(call(make(), "GET", "/fail/other"))
        assert (status, code) == (500, "internal_error")
        assert "KeyError" not in detail

    def test_a_request_that_the_end_of_the_service_cuts_off_is_told_so(self) -> None:
        app, begun, sent = make(), asyncio.Event(), list[Any]()

        @app.get("/wait")
        async def wait() -> None:
            begun.set()
            await asyncio.Event().wait()

        async def receive() -> Any:
            return {"type": "http.request"}

        async def send(message: Any) -> None:
            sent.append(message)

        async def scenario() -> None:
            headers = [(b"host", b"localhost")]
            scope = {"type": "http", "method": "GET", "path": "/wait", "query_string": b"", "headers": headers}
            serving = asyncio.ensure_future(app({**scope, "client": ("127.0.0.1", 1)}, receive, send))
            await begun.wait()
            serving.cancel()
            await serving

        asyncio.run(scenario())
        assert [message.get("status") for message in sent] == [503, None]
        assert json.loads(sent[1]["body"])["error"] == "infrastructure_error"


class TestRequestIds:
    def test_a_plain_one_is_kept(self) -> None:
        response = call(make(), "GET", "/healthz", headers={"X-Request-Id": "run-7.a_b"})
        assert response.headers["x-request-id"] == "run-7.a_b"

    @pytest.mark.parametrize("asked", ["", "a b", "x" * 65, "é", '"}', "-a"])
    def test_another_is_replaced(self, asked: str) -> None:
        given = call(make(), "GET", "/healthz", headers={"X-Request-Id": asked.encode()}).headers["x-request-id"]
        assert len(given) == 32
        assert given != asked


class TestWithoutKeys:
    @pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1"])
    @pytest.mark.parametrize("host", ["localhost:8081", "127.0.0.1", "[::1]:8081"])
    def test_this_machine_is_served(self, peer: str, host: str) -> None:
        assert call(make(), "GET", "/healthz", peer=peer, host=host).status_code == 200

    @pytest.mark.parametrize("peer", ["10.0.0.1", "::ffff:10.0.0.1", "testclient", "2001:db8::1", None])
    def test_no_other_peer_is_served_whatever_a_proxy_says(self, peer: str | None) -> None:
        headers = {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X-Real-Ip": "127.0.0.1"}
        assert error(call(make(), "GET", "/healthz", peer=peer, headers=headers))[:2] == (403, "forbidden")

    @pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1"])
    def test_no_other_host_is_served(self, host: str) -> None:
        assert error(call(make(), "GET", "/healthz", host=host))[0] == 403

    def test_no_page_from_elsewhere_is_served(self) -> None:
        for origin in ("https://evil.example", "null", "http://[", ""):
            assert error(call(make(), "GET", "/healthz", headers={"Origin": origin}))[0] == 403
        own = {"Origin": "http://localhost:8081"}
        assert call(make(), "GET", "/healthz", headers=own).status_code == 200

    def test_it_does_not_listen_for_others(self) -> None:
        for host in ("0.0.0.0", "::", "10.0.0.1", "verifier"):
            with pytest.raises(UsageError, match="RL_GYM_PRINCIPAL_KEYS"):
                refuse_open_binding(EchoSettings(host=host))
            refuse_open_binding(EchoSettings(host=host, principal_keys=str(KEY.public)))
        refuse_open_binding(EchoSettings(host="127.0.0.1"))


class TestWithKeys:
    def bearer(self, *scopes: str, audience: str = "echo") -> str:
        return f"Bearer {Issuer(KEY, 'policy', audience, scopes).token()}"

    def test_a_principal_is_served_wherever_it_comes_from(self) -> None:
        app = make(str(KEY.public))
        headers = {"Authorization": self.bearer("echo"), "content-type": "application/json"}
        response = call(app, "POST", "/echo", peer="10.0.0.1", host="verifier:8081", content=b"1", headers=headers)
        assert response.json() == {"body": 1, "who": "policy"}

    def test_nobody_else_is(self) -> None:
        app = make(str(KEY.public))
        missing = post(app, b"1")
        assert error(missing)[:2] == (401, "unauthorized")
        assert missing.headers["www-authenticate"] == "Bearer"
        assert error(post(app, b"1", authorization="Basic YTpi"))[0] == 401
        assert error(post(app, b"1", authorization="Bearer x"))[0] == 401
        assert error(post(app, b"1", authorization=self.bearer("echo", audience="gateway")))[0] == 401
        assert error(post(app, b"1", authorization=self.bearer("other")))[:2] == (403, "forbidden")

    def test_a_principal_for_one_request_serves_no_other(self) -> None:
        app, issuer = make(str(KEY.public)), Issuer(KEY, "policy", "echo", ["echo"])
        own = {"authorization": f"Bearer {issuer.token('r-1')}"}
        assert post(app, b"1", x_request_id="r-1", **own).status_code == 200
        for other in ({}, {"x_request_id": "r-2"}, {"x_request_id": "r-1 "}):
            status, code, detail = error(post(app, b"1", **other, **own))
            assert (status, code) == (401, "unauthorized")
            assert "X-Request-Id" in detail

    def test_whoever_runs_it_may_ask_how_it_is(self) -> None:
        app = make(str(KEY.public))
        assert call(app, "GET", "/healthz", peer="10.0.0.1").json() == {"status": "alive"}
        shown = call(app, "GET", "/metrics", peer="10.0.0.1").text
        assert 'rl_gym_http_requests_total{route="/healthz",status="200"} 1.0' in shown


class TestSettings:
    def test_the_service_goes_before_all_services(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RL_GYM_PORT", "1000")
        monkeypatch.setenv("RL_GYM_IN_FLIGHT", "7")
        monkeypatch.setenv("RL_GYM_ECHO_PORT", "2000")
        settings = read_settings(EchoSettings)
        assert (settings.port, settings.in_flight) == (2000, 7)
        assert read_settings(EchoSettings, port=3000).port == 3000

    def test_each_has_a_sentence(self) -> None:
        assert all(field.description for field in EchoSettings.model_fields.values())


@pytest.fixture
def logs() -> Iterator[None]:
    """What a test configures is undone; it must do that itself, since standard error is another one before it."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("logs")
class TestLogs:
    def test_a_request_is_one_line_of_json_without_its_secrets(self, capfd: pytest.CaptureFixture[str]) -> None:
        configure_logs("echo")
        token = Issuer(KEY, "policy", "echo", ["echo"]).token()
        headers = {
            "Authorization": f"Bearer {token}",
            "content-type": "application/json",
            "X-Request-Id": "r-9",
            "Cookie": "session=hush",
        }
        app = make(str(KEY.public))
        call(app, "POST", "/echo?token=hush", content=b'{"password": "hush"}', headers=headers)
        shown = capfd.readouterr().err
        (line,) = [json.loads(one) for one in shown.splitlines() if '"/echo"' in one]
        assert {name: line[name] for name in ("service", "request_id", "status", "principal", "path")} == {
            "service": "echo",
            "request_id": "r-9",
            "status": 200,
            "principal": "policy",
            "path": "/echo",
        }
        assert token not in shown
        assert "hush" not in shown

    def test_values_under_the_names_of_secrets_are_hidden(self, capfd: pytest.CaptureFixture[str]) -> None:
        configure_logs("echo")
        logging.getLogger("a").warning("plain")
        structlog.get_logger("b").info("x", settings={"api_key": "hush", "all": [{"Authorization": "hush"}]}, n=3)
        shown = capfd.readouterr().err
        assert "hush" not in shown
        assert [json.loads(line)["event"] for line in shown.splitlines()] == ["plain", "x"]

    def test_a_traceback_tells_no_values(self, capfd: pytest.CaptureFixture[str]) -> None:
        configure_logs("echo")
        call(make(), "GET", "/fail/hush")
        shown = capfd.readouterr().err
        assert "KeyError" in shown
        assert shown.count("hush") == shown.count("/fail/hush") + shown.count("KeyError: 'hush'")
