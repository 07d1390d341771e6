"""Stands in for a Python with vLLM: takes vLLM's command line, serves what the supervisor asks, and has a child.

The flag `--fake` holds what it does wrong, in JSON: `refuse` is a map from words of the command line to what is printed
before it ends; `stubborn` does not hear of SIGTERM. Its `folder` gets a file for every start; a file `hang` there lets
it answer nothing, and `die-N` ends the start N with the words in it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CHILD = "import time; time.sleep(600)"


def flag(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


FAKE: dict[str, Any] = json.loads(flag("--fake"))
FOLDER = Path(FAKE["folder"])


class Handler(BaseHTTPRequestHandler):
    tokens = 0

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self.answer(200, f'vllm:generation_tokens_total{{engine="0"}} {Handler.tokens}.0\n'.encode())
        elif self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            self.answer(401, b"{}")
        else:
            self.answer(200, json.dumps({"data": [{"id": flag("--model")}]}).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if (FOLDER / "hang").exists():
            time.sleep(600)
        Handler.tokens += 1
        self.answer(200, b'{"usage": {"completion_tokens": 1}}')

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return None


def main() -> None:
    if FAKE.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    number = len(list(FOLDER.glob("start-*")))
    for word, last_words in FAKE.get("refuse", {}).items():
        if word in sys.argv:
            (FOLDER / f"start-{number}").write_text(json.dumps({"arguments": sys.argv}))
            sys.exit(last_words)
    child = subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True)
    server = ThreadingHTTPServer(("127.0.0.1", int(flag("--port"))), Handler)
    started = {"pid": os.getpid(), "child": child.pid, "arguments": sys.argv, "environment": dict(os.environ)}
    partial = FOLDER / f"partial-{number}"
    partial.write_text(json.dumps(started))
    partial.rename(FOLDER / f"start-{number}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while not (FOLDER / f"die-{number}").exists():
        time.sleep(0.02)
    sys.exit((FOLDER / f"die-{number}").read_text())


main()
