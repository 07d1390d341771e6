"""From the scanned pieces of a template to its tree: spaces trimmed, indentation removed, directives matched."""

from __future__ import annotations

from rl_gym.hcl.ast import Expression, Literal, Source, Template, TemplateFor, TemplateIf, TemplatePart
from rl_gym.hcl.lexer import WHITESPACE


class Directive:
    """`%{ if }`, `%{ else }`, `%{ endif }`, `%{ for }` or `%{ endfor }`, before it is matched with its partners."""

    __slots__ = ("expression", "key", "kind", "start", "value")

    def __init__(
        self, kind: str, start: int, expression: Expression | None = None, key: str | None = None, value: str = ""
    ) -> None:
        self.kind, self.start, self.expression, self.key, self.value = kind, start, expression, key, value


Piece = str | Expression | Directive


class UnmatchedDirectiveError(ValueError):
    """A directive without its partner; `start` is the offset of the one that is to blame."""

    def __init__(self, message: str, start: int) -> None:
        super().__init__(message)
        self.start = start


def unindent(pieces: list[Piece]) -> None:
    """Remove from a `<<-` heredoc, in place, the indentation that all its lines share.

    `pieces` holds at most one line in each string. A line that starts with a sequence has no indentation; blank lines
    have no say; and text that was trimmed by a `~` counts as what is left of it, as in Terraform.
    """
    least: int | None = None
    adjust = []
    fresh = True
    for index, piece in enumerate(pieces):
        if fresh:
            fresh = False
            spaces = 0
            if isinstance(piece, str):
                spaces = len(piece) - len(piece.lstrip(WHITESPACE))
                if spaces == len(piece) and piece.endswith("\n"):
                    fresh = True
                    continue
                adjust.append(index)
            least = spaces if least is None else min(least, spaces)
        if isinstance(piece, str) and piece.endswith("\n"):
            fresh = True
    if least:
        for index in adjust:
            line = pieces[index]
            if isinstance(line, str):
                pieces[index] = line[least:]


def build(source: Source, start: int, pieces: list[Piece]) -> Literal | Template:
    """The tree of a whole template. Raises UnmatchedDirectiveError."""
    parts = _match(source, pieces)
    if not parts:
        return Literal(source, start, "")
    if len(parts) == 1:
        only = parts[0]
        if isinstance(only, str):
            return Literal(source, start, only)
        if len(pieces) > 1 and not isinstance(only, (TemplateIf, TemplateFor)):
            # Text was trimmed away beside it: still a string, where an interpolation alone would keep its type.
            parts.insert(0, "")
    return Template(source, start, parts)


def _match(source: Source, pieces: list[Piece]) -> list[TemplatePart]:
    """Join neighbouring text and put between `if`, `else`, `for` and their ends what stands there."""
    parts: list[TemplatePart] = []
    open_directives: list[tuple[Directive, list[TemplatePart], list[TemplatePart] | None]] = []
    for piece in pieces:
        if isinstance(piece, str):
            if parts and isinstance(parts[-1], str):
                parts[-1] += piece
            elif piece:
                parts.append(piece)
        elif not isinstance(piece, Directive):
            parts.append(piece)
        elif piece.kind in ("if", "for"):
            open_directives.append((piece, parts, None))
            parts = []
        else:
            parts = _close(source, piece, parts, open_directives)
    if open_directives:
        opening = open_directives[-1][0]
        raise UnmatchedDirectiveError(
            f"this %{{ {opening.kind} }} is never closed: expected %{{ end{opening.kind} }}", opening.start
        )
    return parts


def _close(
    source: Source,
    piece: Directive,
    parts: list[TemplatePart],
    open_directives: list[tuple[Directive, list[TemplatePart], list[TemplatePart] | None]],
) -> list[TemplatePart]:
    """Take `else`, `endif` or `endfor`, and give the list to which the parts after it belong."""
    wanted = "for" if piece.kind == "endfor" else "if"
    if not open_directives or open_directives[-1][0].kind != wanted:
        raise UnmatchedDirectiveError(f"%{{ {piece.kind} }} without %{{ {wanted} }} before it", piece.start)
    opening, outer, then = open_directives.pop()
    if piece.kind == "else":
        if then is not None:
            raise UnmatchedDirectiveError("a second %{ else } for the same %{ if }", piece.start)
        open_directives.append((opening, outer, parts))
        return []
    if opening.expression is None:
        raise AssertionError("an opening directive always has an expression")
    if piece.kind == "endfor":
        outer.append(TemplateFor(source, opening.start, opening.key, opening.value, opening.expression, parts))
    elif then is None:
        outer.append(TemplateIf(source, opening.start, opening.expression, parts, []))
    else:
        outer.append(TemplateIf(source, opening.start, opening.expression, then, parts))
    return outer
