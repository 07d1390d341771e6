"""What the service and its workers say to each other arrives as it was sent, however it is cut on the way."""

from __future__ import annotations

import io
import json
import struct

import pytest

from services.verifier.frames import MAX_ANSWER_BYTES, Answer, AnswerReader, Kind, pack_answer, pack_chunk, read_chunks


def test_chunks_arrive_in_order_until_the_stream_ends() -> None:
    sent = [({"name": "score", "options": {"a": "é"}}, [b"", b"x" * 100_000, b"\0"]), ({"name": "scan"}, [b"{}"])]
    stream = io.BytesIO(b"".join(pack_chunk(task, payloads) for task, payloads in sent))
    assert list(read_chunks(stream)) == sent


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
def test_answers_are_put_together_from_any_pieces(size: int) -> None:
    sent = [
        Answer(Kind.READY),
        Answer(Kind.JUDGED, b"x" * 50),
        Answer.error(Kind.FAULT, "c", "d", 503),
        Answer(Kind.END),
    ]
    data = b"".join(map(pack_answer, sent))
    reader = AnswerReader()
    found = [answer for at in range(0, len(data), size) for answer in reader.feed(data[at : at + size])]
    assert found == sent
    assert json.loads(found[2].body) == {"error": "c", "detail": "d", "status": 503}


@pytest.mark.parametrize("data", [struct.pack("!BI", 0, MAX_ANSWER_BYTES + 1), struct.pack("!BI", 77, 0)])
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"bytes|77"):
        list(AnswerReader().feed(data))
