"""The errors of the client. Each is a HippocampusError; its class and its `kind` state what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class FieldError(NamedTuple):
    """A field of the request that the server refuses."""

    path: str
    """Where it is, such as `messages[0].role`."""
    message: str


class HippocampusError(Exception):
    """A request that failed.

    kind         the kind of the server's problem document (`urn:hippocampus:problem:KIND`), or `unreachable`, `timeout`
                 or `bad_answer`
    detail       what is wrong, for people
    status       the HTTP status; None if there was no answer
    errors       the fields that the server refuses
    retry_after  the seconds that the server asks to wait; None if it does not
    request_id   the id under which the server's log has the request
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        status: int | None = None,
        errors: Sequence[FieldError] = (),
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(kind, detail, status, errors, retry_after, request_id)
        self.kind = kind
        self.detail = detail
        self.status = status
        self.errors = list(errors)
        self.retry_after = retry_after
        self.request_id = request_id

    def __str__(self) -> str:
        text = "; ".join([self.detail, *(f"{path} {message}" for path, message in self.errors)])
        id_ = f", request {self.request_id}" if self.request_id else ""
        return f"{text} ({self.kind}{id_})"


class InvalidError(HippocampusError):
    """The request is wrong (400, and 4xx of others than the server); `errors` names its fields."""


class UnauthorizedError(HippocampusError):
    """There is no key, or it is unknown or revoked (401)."""


class ForbiddenError(HippocampusError):
    """The key's role or user does not allow this (403)."""


class NotFoundError(HippocampusError):
    """The resource does not exist in this app (404)."""


class ConflictError(HippocampusError):
    """The state of the resource does not allow this (409)."""


class TooLargeError(HippocampusError):
    """The body is larger than the server accepts (413)."""


class TooFastError(HippocampusError):
    """Too many requests (429); `retry_after` states how long to wait."""


class UnavailableError(HippocampusError):
    """The server, or a part that the request needs, is busy or unavailable (502, 503, 504)."""


class InternalError(HippocampusError):
    """The server failed because of a defect (500)."""


class UnreachableError(HippocampusError):
    """No connection, or one that was cut before the whole answer had come."""


class NoAnswerInTimeError(HippocampusError):
    """No answer within the client's timeout."""


class BadAnswerError(HippocampusError):
    """An answer that openapi.yaml does not describe, or (502) a model whose answer the server cannot use."""


CLASSES: dict[str, type[HippocampusError]] = {
    "invalid": InvalidError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "too_large": TooLargeError,
    "too_fast": TooFastError,
    "busy": UnavailableError,
    "unavailable": UnavailableError,
    "not_tried": UnavailableError,
    "internal": InternalError,
    "unreachable": UnreachableError,
    "timeout": NoAnswerInTimeError,
    "bad_answer": BadAnswerError,
}

KINDS = {
    401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "conflict", 413: "too_large", 429: "too_fast",
    502: "unavailable", 503: "unavailable", 504: "unavailable",
}  # fmt: skip


def kind_of(status: int) -> str:
    """Returns the kind of an answer that is no problem document."""
    others = "internal" if status >= 500 else "invalid" if status >= 400 else "bad_answer"
    return KINDS.get(status, others)


def error(kind: str, detail: str, **more: Any) -> HippocampusError:
    """Returns an error of the class of its kind."""
    return CLASSES.get(kind, HippocampusError)(kind, detail, **more)
