"""Functions on paths. What a file holds is not part of a configuration, so its content is unknown."""

from __future__ import annotations

import posixpath

from rl_gym.hcl.conversion import STRING
from rl_gym.hcl.functions.registry import function, unpredictable


@function("basename", STRING)
def basename(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@function("dirname", STRING)
def dirname(path: str) -> str:
    parent = path.rpartition("/")[0]
    if not parent:
        return "/" if path.startswith("/") else "."
    return posixpath.normpath(parent).replace("//", "/")


unpredictable(
    "abspath", "file", "filebase64", "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "fileset",
    "filesha1", "filesha256", "filesha512", "pathexpand", "templatefile", "templatestring",
)  # fmt: skip
