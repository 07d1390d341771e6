"""Which of many names an IAM pattern matches, all of them at once: `*` and `?` alone are special to IAM.

A pattern costs a few operations on integers for each of its letters, whatever its stars could stand for. So a policy
full of hostile patterns takes no longer to judge than it is long.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import accumulate


class Names:
    """Names in one row of bits: for each name a bit before every letter, one for its end, and a guard that stays zero.

    Sets of names are integers: the bits of their ends.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._row = "".join(f"{name}\0\0" for name in names)
        self._starts = _bits("".join("1" + "0" * (len(name) + 1) for name in names))
        self._guards = _bits("".join("0" * (len(name) + 1) + "1" for name in names))
        self._letters = _bits("".join("1" * len(name) + "00" for name in names))
        self._places: dict[str, int] = {}
        self._by_end = dict(zip(accumulate(len(name) + 2 for name in names), names, strict=True))
        self.every = self._guards >> 1

    def matched(self, pattern: str) -> int:
        """The names that a pattern matches as a whole; letters count as they are written, and a star in a name is none.

        So a name that is a pattern itself is matched where all are that it matches.
        """
        reached = self._starts
        for letter in pattern:
            if letter == "*":
                # In each name, what is left of its guard: every place from the first that is reached to the end.
                reached |= (self._guards - reached) & ~self._guards
            elif letter == "?":
                reached = (reached & self._letters & ~self._before("*")) << 1
            else:
                reached = (reached & self._before(letter)) << 1
            if not reached:
                break
        return reached & self.every

    def among(self, wanted: Container[str]) -> int:
        """Those names that are wanted."""
        return _bits("".join("0" * len(name) + ("10" if name in wanted else "00") for name in self._names))

    def listed(self, found: int) -> Iterator[str]:
        """The names in a set of them."""
        while found:
            end = found.bit_length()
            yield self._by_end[end + 1]
            found ^= 1 << (end - 1)

    def _before(self, letter: str) -> int:
        """The places before a letter, looked for once where there are any."""
        if letter not in self._places:
            if letter not in self._row:
                return 0
            row = "1".join("0" * len(part) for part in self._row.split(letter))
            self._places[letter] = _bits(row) & self._letters
        return self._places[letter]


def _bits(row: str) -> int:
    """A row of ones and zeros as an integer; what comes first is the lowest bit."""
    return int(row[::-1] or "0", 2)
