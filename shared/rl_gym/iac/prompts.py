"""What the model sees, in training and in serving alike, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["parse_completion", "prompt", "repair_prompt"]

PROBLEM_CHARACTERS = 2_000


def prompt(request: str, required: Iterable[str] = ()) -> str:
    """The prompt for a request; `required` lists the resource types that must be built, where they are known."""
    types = ", ".join(required)
    need = f"Required: {types}\n" if types else ""
    return f"Write secure Terraform for AWS. Answer with HCL only.\nRequest: {request.strip()}\n{need}Terraform:\n"


def repair_prompt(
    request: str,
    required: Iterable[str],
    answer: str,
    problems: Sequence[str],
    *,
    most_characters: int = PROBLEM_CHARACTERS,
) -> str:
    """The prompt for a second attempt: the first prompt, the answer so far, and what is wrong with it.

    It begins with the very text that the first attempt read and wrote, which an engine finds in its prefix cache.
    The answer stands there whole; `problems`, the worst first, are cut to about `most_characters` between lines, and
    the rest is counted. Of the worst one as much is shown as there is room for.
    """
    lines: list[str] = []
    room = most_characters
    for problem in problems:
        line = f"- {' '.join(problem.split())}"[:most_characters]
        room -= len(line)
        if lines and room < 0:
            lines.append(f"- and {len(problems) - len(lines)} more")
            break
        lines.append(line)
    so_far = answer.rstrip() or "(none)"
    return "\n".join((f"{prompt(request, required)}{so_far}", "Problems:", *lines, "Corrected Terraform:", ""))


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w.+-]*)[^\n]*$")
_HCL_TAGS = frozenset({"hcl", "terraform", "tf"})
_OPENING = re.compile(
    r"^(?:resource|data|variable|output|module|provider|locals|terraform|moved|import|removed|check)\b[^\n=]*\{", re.M
)


def parse_completion(text: str) -> str | None:
    """The HCL of a completion, ending in a newline; None where there is none.

    All blocks fenced as hcl, terraform or tf are files of one module, in order; untagged fences count where they open a
    block of Terraform and none is tagged. Prose around is dropped. A fence that is not closed stays in the text, which
    so is malformed: what was cut off must not pass for whole. Without fences the text is read as it stands, from
    the first line that opens a block to the last brace that closes one at the margin.
    """
    text = text.replace("\r\n", "\n")
    tagged, untagged, rest = _fences(text)
    chosen = tagged or [block for block in untagged if _OPENING.search(block)]
    if chosen:
        hcl = "\n".join(block.rstrip("\n") + "\n" for block in chosen)
        return hcl if hcl.strip() else None
    return _bare(rest)


def _fences(text: str) -> tuple[list[str], list[str], str]:
    """Bodies of the fences with an HCL tag, of those with none, and the text outside of all fences."""
    tagged: list[str] = []
    untagged: list[str] = []
    outside: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if not opening:
            outside.append(lines[at])
            at += 1
            continue
        mark, tag = opening.group(1), opening.group(2).lower()
        end = next((i for i in range(at + 1, len(lines)) if _closes(lines[i], mark)), None)
        body = lines[at + 1 : end] if end is not None else lines[at:]
        if tag in _HCL_TAGS:
            tagged.append("\n".join(body))
        elif not tag:
            untagged.append("\n".join(body))
        at = len(lines) if end is None else end + 1
    return tagged, untagged, "\n".join(outside)


def _closes(line: str, mark: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(mark) and set(stripped) == {mark[0]}


def _bare(text: str) -> str | None:
    opening = _OPENING.search(text)
    if not opening:
        return None
    head, body = text[: opening.start()], text[opening.start() :]
    if any(mark in head for mark in "{}="):
        body = text
    closed = body.rfind("\n}")
    tail = body[closed + 2 :] if closed >= 0 else ""
    if closed >= 0 and not any(mark in tail for mark in '{}="#'):
        body = body[: closed + 2]
    return body.rstrip("\n") + "\n"
