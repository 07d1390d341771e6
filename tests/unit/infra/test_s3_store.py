"""What the store in S3 makes of faults, and of servers that are less than S3."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.s3 import connection
from rl_gym.infra.s3.place import Place
from tests.unit.infra.conftest import SECRETS
from tests.unit.infra.s3_server import Answer, Fault, Request, S3Server, cut, lost, refused

LARGE = b"x" * (9 << 20)
CONFLICT = refused(409, "ConditionalRequestConflict")


@pytest.fixture
def store(s3: S3Server) -> ObjectStore:
    opened = open_store(s3.address)
    s3.asked.clear()
    return opened


class TestLostAnswers:
    @pytest.mark.parametrize("body", [b"1", LARGE], ids=["small", "large"])
    def test_a_write_knows_itself_when_it_comes_back(self, s3: S3Server, store: ObjectStore, body: bytes) -> None:
        def answer_is_lost() -> None:
            s3.fault("PUT a?" if body == b"1" else "POST a?uploadId", lost())

        answer_is_lost()
        first = store.create("a", body)
        answer_is_lost()
        second = store.replace("a", body + b"2", first)
        answer_is_lost()
        assert store.put("a", body) == first != second
        assert s3.faults == []
        assert store.get("a").etag == first
        assert s3.uploads() == {}

    @pytest.mark.parametrize("body", [b"1", LARGE], ids=["small", "large"])
    def test_a_write_that_was_overwritten_meanwhile_claims_nothing(
        self, s3: S3Server, store: ObjectStore, body: bytes
    ) -> None:
        old = store.put("b", b"old")
        for key, write in (("a", store.create), ("b", lambda key, body: store.replace(key, body, old))):
            s3.fault(f"PUT {key}?" if body == b"1" else f"POST {key}?uploadId", lost(lambda key=key: s3.put(key, b"2")))
            with pytest.raises(InfrastructureError, match="whether this write took place is not known") as unknown:
                write(key, body)
            assert not isinstance(unknown.value, ConflictError)
            assert store.get(key).body == b"2"

    def test_a_write_that_was_deleted_meanwhile_claims_nothing(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("POST a?uploadId", lost(lambda: store.delete("a")))
        with pytest.raises(InfrastructureError, match="not known"):
            store.replace("a", LARGE, store.put("a", b"old"))

    def test_another_write_is_a_conflict_at_once(self, s3: S3Server, store: ObjectStore) -> None:
        s3.put("a", b"other")
        with pytest.raises(ConflictError, match="'a' exists already"):
            store.create("a", b"1")
        assert len(s3.asked) == 1


class TestConflicts:
    def test_what_is_not_decided_is_tried_again(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("PUT a?", CONFLICT, times=2)
        store.create("a", b"1")
        assert store.get("a").body == b"1"

    def test_but_not_for_ever(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("PUT a?", CONFLICT, times=100)
        with pytest.raises(ConflictError):
            store.create("a", b"1")
        assert len(s3.asked) == 5

    def test_parts_are_sent_only_once(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("POST a?uploadId", CONFLICT)
        with pytest.raises(ConflictError):
            store.create("a", LARGE)
        assert s3.uploads() == {}
        assert not store.exists("a")


class TestFaults:
    def test_a_fault_that_passes_is_not_noticed(self, s3: S3Server, store: ObjectStore) -> None:
        for fault in (refused(503, "SlowDown"), refused(500, "InternalError"), lambda _, __: None):
            s3.fault("PUT a?", fault)
            store.put("a", b"1")
            s3.fault("GET a?", fault)
            assert store.get("a").body == b"1"
        assert s3.faults == []

    def test_a_fault_that_stays_is_told_after_a_few_tries(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("PUT a?", refused(500, "InternalError"), times=100)
        with pytest.raises(InfrastructureError, match="'a': it answered InternalError with status 500"):
            store.put("a", b"1")
        assert len(s3.asked) == 4

    def test_a_server_that_is_away_for_a_while_does_not_end_the_store(self, s3: S3Server, store: ObjectStore) -> None:
        store.put("a", b"1")
        s3.stop()
        try:
            for ask in (lambda: store.get("a"), lambda: store.put("a", b"2"), lambda: list(store.list())):
                with pytest.raises(InfrastructureError, match="cannot be reached"):
                    ask()
        finally:
            s3.start()
        assert store.get("a").body == b"1"
        store.put("a", b"2")

    def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(
        self, s3: S3Server, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.put("a", b"1")
        monkeypatch.setattr(connection, "_READ_SECONDS", 0.2)
        over = threading.Event()
        s3.fault("GET a?", lambda _, __: over.wait(60) and None, times=4)
        # Of another region, which has a client of its own.
        impatient = connection.Connection(Place.of(f"{s3.address}&region=eu-west-3"))
        with pytest.raises(InfrastructureError, match="'a': no answer in time"):
            impatient.call("get_object", "a")
        over.set()
        assert s3.faults == []

    @pytest.mark.parametrize(
        ("status", "reason", "told"),
        [
            (403, "AccessDenied", "needs s3:ListBucket"),
            (403, "InvalidAccessKeyId", "credentials are refused"),
            (403, "SignatureDoesNotMatch", "credentials are refused"),
            (400, "ExpiredToken", "credentials are refused"),
            (403, "RequestTimeTooSkewed", "the clock of this machine"),
            (301, "PermanentRedirect", "another region: name that in AWS_REGION"),
            (400, "AuthorizationHeaderMalformed", "another region"),
            (404, "NoSuchBucket", "no such bucket"),
            (418, "Whatever\n", "it answered Whatever with status 418"),
        ],
    )
    def test_a_refusal_says_what_to_do(
        self, s3: S3Server, store: ObjectStore, status: int, reason: str, told: str
    ) -> None:
        etag = store.put("a", b"1")
        for method, ask in asking(store, etag):
            s3.faults.clear()
            s3.fault(method, refused(status, reason), times=10)
            with pytest.raises(InfrastructureError, match=told) as refusal:
                ask()
            line = str(refusal.value)
            assert line.startswith(f"object store s3://objects/{s3.prefix} at http://127.0.0.1:")
            assert "SECRET" not in line
            assert "\n" not in line
            assert not isinstance(refusal.value, NotFoundError | ConflictError)

    def test_a_bucket_that_is_gone_is_no_missing_object(self, s3: S3Server) -> None:
        for address in (s3.address, f"{s3.address}&read_only=true"):
            with pytest.raises(InfrastructureError, match="no such bucket: make it") as refusal:
                open_store(address.replace("objects", "nothing"))
            assert not isinstance(refusal.value, NotFoundError)


def asking(store: ObjectStore, etag: str) -> list[tuple[str, Callable[[], object]]]:
    """Every way to ask, and the method that it uses first."""
    return [
        ("GET", lambda: store.get("a")),
        ("GET", lambda: store.open("a")),
        ("GET", lambda: store.exists("a")),
        ("GET", lambda: list(store.list())),
        ("PUT", lambda: store.put("a", b"")),
        ("PUT", lambda: store.create("b", b"")),
        ("PUT", lambda: store.replace("a", b"", etag)),
        ("POST", lambda: store.put("a", LARGE)),
        ("DELETE", lambda: store.delete("a")),
    ]


class TestParts:
    def test_a_source_is_read_as_parts_are_stored(self, s3: S3Server, store: ObjectStore) -> None:
        """No more of it is in memory than one part, however large it is."""
        seen: list[tuple[int, int]] = []

        class Watched(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                seen.append((self.tell() >> 20, s3.uploads().get("a", 0)))
                return super().read(size)

        store.put("a", Watched(b"x" * (20 << 20)))
        # MiB that were read, and parts that were stored by then.
        assert seen == [(0, 0), (8, 1), (16, 2), (20, 2), (20, 3)]

    @pytest.mark.parametrize("what", ["PUT a?uploadId", "POST a?uploadId"])
    def test_an_upload_that_fails_leaves_nothing(self, s3: S3Server, store: ObjectStore, what: str) -> None:
        store.put("a", b"old")
        s3.fault(what, refused(500, "InternalError"), times=4)
        with pytest.raises(InfrastructureError, match="InternalError"):
            store.put("a", LARGE)
        assert store.get("a").body == b"old"
        assert s3.uploads() == {}

    def test_an_upload_that_is_interrupted_leaves_nothing(self, s3: S3Server, store: ObjectStore) -> None:
        class Interrupted(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                if self.tell() > 8 << 20:
                    raise KeyboardInterrupt
                return super().read(1 << 20)

        with pytest.raises(KeyboardInterrupt):
            store.put("a", Interrupted(LARGE))
        assert s3.uploads() == {}
        assert not store.exists("a")

    def test_what_cannot_be_given_up_does_not_hide_the_fault(self, s3: S3Server, store: ObjectStore) -> None:
        s3.fault("PUT a?uploadId", refused(500, "InternalError"), times=4)
        s3.fault("DELETE a?uploadId", refused(403, "AccessDenied"))
        with pytest.raises(InfrastructureError, match="InternalError"):
            store.put("a", LARGE)


class TestReading:
    def test_a_stream_goes_on_where_its_connection_broke(self, s3: S3Server, store: ObjectStore) -> None:
        body = os.urandom(5 << 20)
        store.put("a", body)
        s3.fault("GET a?", cut(2 << 20), times=2)
        with store.open("a") as stream:
            assert stream.read() == body
        s3.fault("GET a?", cut(1 << 20))
        assert store.get("a").body == body
        assert s3.faults == []

    def test_what_was_changed_meanwhile_is_not_read_on(self, s3: S3Server, store: ObjectStore) -> None:
        for change in (lambda: s3.put("a", b"2" * (4 << 20)), lambda: store.delete("a")):
            store.put("a", b"1" * (4 << 20))
            s3.fault("GET a?", cut(2 << 20, change))
            with store.open("a") as stream, pytest.raises(InfrastructureError, match="changed while it was read"):
                stream.read()

    def test_a_connection_that_always_breaks_is_given_up(self, s3: S3Server, store: ObjectStore) -> None:
        store.put("a", b"1" * (4 << 20))
        s3.fault("GET a?", cut(1000), times=100)
        with store.open("a") as stream, pytest.raises(InfrastructureError, match="breaks off"):
            stream.read()
        assert len(s3.asked) < 20

    def test_a_server_that_gives_no_rest_is_noticed(self, s3: S3Server, store: ObjectStore) -> None:
        store.put("a", b"1" * (4 << 20))
        s3.fault("GET a?", cut(1 << 20))
        s3.ignored.add("Range")
        with pytest.raises(InfrastructureError, match="the rest of an object"):
            store.get("a")

    def test_an_object_over_the_callers_bound_is_not_fetched(self, s3: S3Server, store: ObjectStore) -> None:
        store.put("a", LARGE)
        s3.fault("GET a?", cut(0), times=100)
        with pytest.raises(UsageError, match="larger than 5 bytes"):
            store.get("a", max_bytes=5)


class TestListing:
    def test_a_page_is_asked_for_a_thousand_keys(self, s3: S3Server, store: ObjectStore) -> None:
        for number in range(2_001):
            s3.put(f"{number:04}", b"")
        assert sum(1 for _ in store.list()) == 2_001
        assert len(s3.asked) == 3

    def test_what_others_keep_in_the_bucket_is_not_of_the_store(self, s3: S3Server, store: ObjectStore) -> None:
        s3.put("a", b"")
        for other in ("folder/", ".hidden", "with space", "../a", "ü"):
            s3.put(other, b"")
        s3.backend.put_object("objects", f"{s3.prefix}-more/a", b"")
        assert list(store.list()) == ["a"]

    def test_a_server_with_another_order_is_noticed(self, s3: S3Server, store: ObjectStore) -> None:
        def turned(_: Request, answer: Callable[[], Answer]) -> Answer:
            return replace(answer(), body=answer().body.replace(b"/a<", b"/c<"))

        for key in ("a", "b"):
            store.put(key, b"")
        s3.fault("GET", turned)
        with pytest.raises(InfrastructureError, match="another order"):
            list(store.list())


class TestProbe:
    def test_nothing_of_it_is_left_or_listed(self, s3: S3Server) -> None:
        assert list(open_store(s3.address).list()) == []
        assert s3.keys() == []

    def test_it_is_made_once_a_process(self, s3: S3Server) -> None:
        open_store(s3.address)
        asked = len(s3.asked)
        open_store(s3.address)
        assert len(s3.asked) == asked > 0

    @pytest.mark.parametrize(
        ("headers", "told"),
        [
            ({"If-None-Match"}, "ignores If-None-Match,"),
            ({"If-Match"}, "ignores If-Match,"),
            ({"If-None-Match", "If-Match"}, "ignores If-None-Match and If-Match"),
        ],
    )
    def test_a_server_that_ignores_conditions_is_refused(self, s3: S3Server, headers: set[str], told: str) -> None:
        s3.ignored |= headers
        for _ in range(2):
            with pytest.raises(InfrastructureError, match=told):
                open_store(s3.address)
        assert s3.keys() == []
        # Not remembered: it may be set right.
        s3.ignored.clear()
        open_store(s3.address)

    @pytest.mark.parametrize(("status", "reason"), [(501, "NotImplemented"), (400, "InvalidArgument")])
    def test_a_server_that_knows_no_conditions_is_refused(self, s3: S3Server, status: int, reason: str) -> None:
        s3.fault("PUT", refused(status, reason))
        with pytest.raises(InfrastructureError, match="does not know conditions"):
            open_store(s3.address)

    def test_a_server_that_refuses_every_condition_is_refused(self, s3: S3Server) -> None:
        s3.fault("PUT", refused(412, "PreconditionFailed"), times=10)
        with pytest.raises(InfrastructureError, match="refuses a write whose condition holds"):
            open_store(s3.address)

    def test_conditions_of_large_bodies_are_tried_before_the_first(self, s3: S3Server, store: ObjectStore) -> None:
        """As moto is: it looks at `If-None-Match` where an upload is completed, and not at `If-Match`."""

        def careless(request: Request, answer: Callable[[], Answer]) -> Answer:
            request.headers.pop("If-Match", None)
            return answer()

        store.create("a", LARGE)
        etag = store.put("a", b"old")
        s3.faults += [("POST", careless)] * 2
        with pytest.raises(InfrastructureError, match="ignores If-Match where a body is sent in parts"):
            store.replace("a", LARGE, etag)
        assert store.get("a").body == b"old"
        assert s3.uploads() == {}
        store.put("a", LARGE)

    def test_who_may_not_write_is_told_how_to_read(self, s3: S3Server) -> None:
        s3.fault("PUT", refused(403, "AccessDenied"), times=10)
        with pytest.raises(InfrastructureError, match="add read_only=true to its address"):
            open_store(s3.address)


class TestReadOnly:
    def test_it_reads_and_never_writes(self, s3: S3Server) -> None:
        s3.put("a", b"1")
        store = open_store(f"{s3.address}&read_only=true")
        stored = store.get("a")
        assert (stored.body, list(store.list()), store.exists("a")) == (b"1", ["a"], True)
        for write in (
            lambda: store.put("a", b"2"),
            lambda: store.create("b", b"2"),
            lambda: store.replace("a", b"2", stored.etag),
            lambda: store.delete("a"),
        ):
            with pytest.raises(UsageError, match="read only"):
                write()
        assert {text.split()[0] for text in s3.asked} == {"GET"}


class TestProcesses:
    def test_a_forked_process_has_connections_of_its_own(self, s3: S3Server) -> None:
        program = """
import os, sys
from rl_gym.infra.object_store import open_store

store = open_store(sys.argv[1])
store.put("before", b"")
child = os.fork()
if not child:
    store.put("child", b"")
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
store.put("after", b"")
"""
        command = [sys.executable, "-c", program, s3.address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        before, child, after = (s3.came_by[f"PUT /objects/{s3.prefix}/{key}?"] for key in ("before", "child", "after"))
        assert before == after != child

    def test_without_boto3_the_extra_is_named(self) -> None:
        program = """
import sys

sys.modules["boto3"] = sys.modules["boto3.session"] = None
from rl_gym.infra.errors import UsageError
from rl_gym.infra.object_store import open_store

try:
    open_store("s3://bucket")
except UsageError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert "pip install 'rl-gym[s3]'" in done.stdout

    def test_without_credentials_it_says_where_to_put_them(self, s3: S3Server) -> None:
        program = "import sys; from rl_gym.infra.object_store import open_store; open_store(sys.argv[1])"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_ACC")}
        command = [sys.executable, "-c", program, s3.address]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert "there are no credentials: set AWS_ACCESS_KEY_ID" in done.stderr.splitlines()[-1]


class TestAddress:
    def test_the_endpoint_may_come_from_the_environment(self, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name of the bucket stays in the path then, as other servers than Amazon's want it."""
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.endpoint.replace("127.0.0.1", "localhost"))
        open_store(f"s3://objects/{s3.prefix}?region=eu-west-1").put("a", b"1")
        assert s3.keys() == [f"{s3.prefix}/a"]
        assert all(text.split()[1].startswith("/objects/") for text in s3.asked)

    def test_an_endpoint_in_the_environment_that_is_none_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "no address")
        with pytest.raises(InfrastructureError, match="see AWS_ENDPOINT_URL_S3"):
            open_store("s3://objects/a?region=eu-west-2")

    def test_prefixes_keep_stores_apart(self, s3: S3Server) -> None:
        address = s3.address.replace("?", "/below?")
        open_store(address).put("a", b"1")
        assert s3.keys() == [f"{s3.prefix}/below/a"]
        assert list(open_store(s3.address).list()) == ["below/a"]

    @pytest.mark.parametrize(
        "address",
        [
            "s3:",
            "s3://",
            "s3:///a",
            "s3://ab",
            "s3://Bucket",
            "s3://bucket:99/a",
            "s3://bucket/a#b",
            "s3://bucket/../a",
            "s3://bucket/a b",
            "s3://bucket/" + "a" * 481,
            "s3://key:password@bucket/a",
            "s3://[password",
            "s3://bucket?password",
            "s3://bucket?password=1",
            "s3://bucket?endpoint=localhost:9000",
            "s3://bucket?endpoint=http://key:password@localhost",
            "s3://bucket?endpoint=http://localhost:password",
            "s3://bucket?endpoint=http://localhost?password",
            "s3://bucket?region=pass%20word",
            "s3://bucket?read_only=yes",
        ],
    )
    def test_one_that_names_no_place_is_refused(self, address: str) -> None:
        with pytest.raises(UsageError) as refused:
            open_store(address)
        assert "\n" not in str(refused.value)
        assert "password" not in str(refused.value).replace("has no 'password'", "")


class TestSecrets:
    def test_no_secret_is_logged_or_told(
        self, s3: S3Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        for name, value in SECRETS.items():
            assert os.environ[name] == value
        told = []
        for fault in (refused(403, "AccessDenied"), refused(500, "InternalError"), lambda _, __: None):
            store = open_store(s3.address)
            s3.fault("PUT a?", fault, times=4)
            with pytest.raises(RlGymError) as error:
                store.put("a", b"1")
            told.append(repr(error.value) + repr(error.value.__cause__) + repr(vars(store)))
        for secret in SECRETS.values():
            assert secret not in caplog.text + " ".join(told)


def test_an_answer_without_a_tag_is_a_fault(s3: S3Server, store: ObjectStore) -> None:
    def without_tag(_: Request, answer: Callable[[], Answer]) -> Answer:
        whole = answer()
        return replace(whole, headers={name: value for name, value in whole.headers.items() if name.lower() != "etag"})

    s3.fault("PUT a?", without_tag)
    with pytest.raises(InfrastructureError, match="without an ETag"):
        store.put("a", b"1")
    s3.fault("GET a?", without_tag)
    with pytest.raises(InfrastructureError, match="without an ETag"):
        store.get("a")


def test_what_is_no_xml_is_a_fault(s3: S3Server, store: ObjectStore) -> None:
    page = Answer(502, {"Content-Type": "text/html"}, b"<html>a proxy")
    faults: list[Fault] = [lambda _, __: page, lambda _, __: replace(page, status=200), refused(200, "")]
    for fault in faults:
        s3.fault("GET", fault, times=4)
        with pytest.raises(InfrastructureError):
            list(store.list())
        s3.faults.clear()
