"""Which requests are repeated, and when: one policy for both forms of the client.

sdk/testdata/faults.json states it for the clients of every language.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .errors import HippocampusError

TRANSIENT = {429, 502, 503, 504}


@dataclass(frozen=True)
class Policy:
    """How often a request is repeated, and how long the client waits; times are in seconds."""

    timeout: float = 30.0
    """For one attempt; of a stream, to connect, and between two pieces of it."""
    retries: int = 2
    longest_wait: float = 60.0
    """A longer Retry-After ends the attempts at once."""
    first_backoff: float = 0.5
    """The wait after the first attempt if there is no Retry-After; it doubles with each attempt."""

    def wait(self, error: HippocampusError, attempt: int) -> float | None:
        """Returns the wait after an attempt (0: the first), or None if it was the last one."""
        if attempt >= self.retries or not (error.status in TRANSIENT or error.kind in ("unreachable", "timeout")):
            return None
        if error.retry_after is None:
            wait = min(self.first_backoff * 2.0**attempt, self.longest_wait)
        elif error.retry_after > self.longest_wait:
            return None
        else:
            wait = error.retry_after
        return wait * random.uniform(1, 1.25)  # so that not all clients return at once


def repeatable(method: str, path: str, body: object) -> bool:
    """Reports whether a repetition of a request changes nothing more than the request."""
    return (
        method in ("GET", "PUT", "DELETE")
        or path in ("/v1/recall", "/v1/context")
        or (isinstance(body, dict) and (body.get("id") is not None or body.get("dedup") is True))
    )
