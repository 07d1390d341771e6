"""kombu's Redis transport, but a message that cannot be acknowledged is no longer counted as being worked on.

As it is, a worker whose Redis was away at that moment counts it for ever,
and with a prefetch of one never takes another.
"""

from __future__ import annotations

from kombu.transport import TRANSPORT_ALIASES, redis, virtual

__all__ = ["Transport", "use_for_redis"]


class _QoS(redis.QoS):  # type: ignore[misc]
    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        except Exception:
            virtual.QoS.ack(self, delivery_tag)
            raise


class _Channel(redis.Channel):  # type: ignore[misc]
    QoS = _QoS


class Transport(redis.Transport):  # type: ignore[misc]
    Channel = _Channel


def use_for_redis() -> None:
    """Let every address of Redis lead to this transport, in this process."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
