"""The cache of judgements: keyed by all that decides, bounded in number and in size."""

from __future__ import annotations

from services.verifier.cache import JudgementCache, cache_key


def test_the_key_covers_the_item_and_all_that_decides() -> None:
    keys = {
        cache_key(names, item)
        for names in (
            ["iac", "base", "default@2", "d1"],
            ["iac", "base", "default@2", "d2"],
            ["iac", "base", "default@1"],
        )
        for item in (b"{}", b"{ }")
    }
    assert len(keys) == 6
    assert cache_key(["a", "b"], b"c") not in {cache_key(["a"], b"\0bc"), cache_key(["ab"], b"c")}
    assert cache_key(["a"], b"x") == cache_key(("a",), b"x")


def test_the_least_used_goes_first() -> None:
    cache = JudgementCache(entries=2, size_bytes=10_000)
    for key in (b"a", b"b"):
        cache.put(key, key)
    assert cache.get(b"a") == b"a"
    cache.put(b"c", b"c")
    assert [cache.get(key) for key in (b"a", b"b", b"c")] == [b"a", None, b"c"]


def test_what_is_kept_is_not_counted_twice() -> None:
    cache = JudgementCache(entries=2, size_bytes=10_000)
    cache.put(b"a", b"a")
    size = cache.size_bytes
    cache.put(b"a", b"a")
    assert (len(cache), cache.size_bytes) == (1, size)


def test_it_holds_no_more_than_its_size() -> None:
    cache = JudgementCache(entries=1_000, size_bytes=10_000)
    for number in range(100):
        cache.put(b"%d" % number, b"x" * 1_000)
        assert cache.size_bytes <= 10_000
    assert 5 < len(cache) < 10
    cache.put(b"huge", b"x" * 10_000)
    assert cache.get(b"huge") is None
    assert cache.get(b"99") is not None


def test_it_may_keep_nothing() -> None:
    for cache in (JudgementCache(0, 10_000), JudgementCache(10, 0)):
        cache.put(b"a", b"a")
        assert len(cache) == cache.size_bytes == 0
