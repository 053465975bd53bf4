"""What requests and answers look like on the wire, without input and output."""

from __future__ import annotations

import email.utils
import json
import os
import time
import urllib.parse
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from . import errors, models
from ._model import Model

T = TypeVar("T")

Lines: TypeAlias = Iterable[bytes]
AsyncLines: TypeAlias = AsyncIterable[bytes] | Iterable[bytes]


class Reset(Model):
    """Events may have been missed: read again what you hold."""

    kind: Literal["reset"] = "reset"
    after: str
    """The id of the last event that was received, which the server cannot find."""


KINDS = {"memory.written", "memory.forgotten", "reflection.created", "conversation.ended", "turn.failed"}
"""The kinds of the events that `models` has."""


class Server(NamedTuple):
    """Where the server is, and the key to it."""

    url: str
    key: str

    @classmethod
    def of(cls, url: str | None, key: str | None) -> Server:
        """Returns the server of the options, or else of the environment."""
        url = url or os.environ.get("HIPPOCAMPUS_URL") or "http://127.0.0.1:8080"
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"the URL of the server is {url!r}: it must begin with http:// or https://")
        return cls(url.rstrip("/"), key if key is not None else os.environ.get("HIPPOCAMPUS_KEY", ""))

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def path(template: str, *parts: str) -> str:
    """Returns a path with quoted parts: path("/v1/memories/{}", id). An empty part would be another route."""
    for part in parts:
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} cannot be a part of the path {template}")
    return template.format(*(urllib.parse.quote(part, safe="") for part in parts))


def query(values: Mapping[str, Any]) -> httpx.QueryParams:
    """Returns query parameters; those of a list are repeated, a dictionary is JSON, and None is left out."""
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in present(values).items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, bool | dict):
                item = json.dumps(item, default=plain)
            pairs.append((name, plain(item) if isinstance(item, datetime) else str(item)))
    return httpx.QueryParams(pairs)


def present(fields: Mapping[str, Any], *nullable: str) -> dict[str, Any]:
    """Returns the fields that are not None, or whose None is a value: those that are named in nullable."""
    return {name: value for name, value in fields.items() if value is not None or name in nullable}


def shortened(text: str, most: int) -> str:
    """Returns as many of the first characters as fit into a number of bytes of UTF-8."""
    return text.encode(errors="ignore")[:most].decode(errors="ignore")


def encode(body: object) -> bytes:
    """Returns a body as JSON."""
    return json.dumps(body, default=plain, ensure_ascii=False, allow_nan=False).encode()


def plain(value: object) -> Any:
    """Returns a value that JSON does not have as one that it has."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone: use datetime.now(timezone.utc), for example")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def decode(kind: type[T], response: httpx.Response) -> T:
    """Returns the answer of a response as a model, or as str, bytes or None."""
    asked: Any = kind
    raw: Any = {str: response.text, bytes: response.content, type(None): None}
    try:
        return cast(T, raw[asked] if asked in raw else adapter(asked).validate_json(response.content))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        detail = f"the answer is not what openapi.yaml describes: {where} {first['msg']}".replace(":  ", ": ")
        raise bad_answer(response, detail) from wrong


def items_of(page: BaseModel) -> list[Any]:
    """Returns the items of a page, of which its model has one list."""
    lists = [value for name in type(page).model_fields if isinstance(value := getattr(page, name), list)]
    if len(lists) != 1:
        raise TypeError(f"{type(page).__name__} is not the model of a page: it has {len(lists)} lists")
    return lists[0]


def refusal(response: httpx.Response) -> errors.HippocampusError:
    """Returns the error of a response, which has been read and is no success."""
    problem: Any = None
    if response.headers.get("Content-Type", "").startswith("application/problem+json"):
        try:
            problem = json.loads(response.content)
        except ValueError:
            problem = None
    if not isinstance(problem, dict):
        problem = {}
    kind = str(problem.get("type", "")).removeprefix("urn:hippocampus:problem:")
    fields = problem.get("errors")
    said = f"the server answered {response.status_code}"
    if response.is_redirect:
        said = f"the server redirects to {response.headers.get('Location')}: give that address"
    return errors.error(
        kind or errors.kind_of(response.status_code),
        str(problem.get("detail") or problem.get("title") or said),
        status=response.status_code,
        errors=[
            errors.FieldError(str(field.get("path", "")), str(field.get("message", "")))
            for field in (fields if isinstance(fields, list) else [])
            if isinstance(field, dict)
        ],
        retry_after=seconds(response.headers.get("Retry-After", "")),
        request_id=response.headers.get("X-Request-Id"),
    )


def seconds(text: str) -> float | None:
    """Returns a Retry-After, which is a number of seconds or a date (RFC 9110), in seconds."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):  # Python 3.10 has the former
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def expect(media: str, response: httpx.Response) -> None:
    """Raises BadAnswerError if a stream has another media type, such as the page of a gateway."""
    got = response.headers.get("Content-Type", "")
    if got.partition(";")[0].strip() != media:
        raise bad_answer(response, f"the answer is {got or 'of no media type'} and not {media}")


def bad_answer(response: httpx.Response, detail: str) -> errors.HippocampusError:
    return errors.error(
        "bad_answer", detail, status=response.status_code, request_id=response.headers.get("X-Request-Id")
    )


def failure(caught: httpx.HTTPError | OSError) -> errors.HippocampusError:
    """Returns the error of a request without an answer."""
    if isinstance(caught, httpx.TimeoutException):
        return errors.error("timeout", "the server did not answer within the client's timeout")
    return errors.error("unreachable", f"the server cannot be reached: {caught or type(caught).__name__}")


class Splitter:
    """Splits a stream of bytes into lines, at newlines alone: JSON may contain other line separators."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the lines that end in a chunk, without their ends."""
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest = []
        if rest:
            self._rest.append(rest)
        return lines

    def rest(self) -> bytes:
        """Returns the last line if it has no end."""
        return b"".join(self._rest)


class EventReader:
    """Assembles server-sent events from lines."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        """Where to resume."""
        self._id = last_id
        self._kind = ""
        self._data: list[str] = []

    def feed(self, line: bytes) -> tuple[str, str] | None:
        """Returns the kind and the data of the event that a line ends."""
        name, _, value = line.rstrip(b"\r").decode().partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._id = value
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        if line.rstrip(b"\r"):
            return None
        event = (self._kind, "\n".join(self._data)) if self._data else None
        self.last_id, self._kind, self._data = self._id, "", []
        return event


def terminated(line: bytes) -> bytes:
    """Returns a line of NDJSON with its end."""
    return line if line.endswith(b"\n") else line + b"\n"


def chunks(lines: Lines) -> Iterator[bytes]:
    for line in lines:
        yield terminated(line)


async def chunks_async(lines: AsyncLines) -> AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield terminated(line)
    else:
        for line in lines:
            yield terminated(line)


def is_last(line: bytes, response: httpx.Response) -> bool:
    """Reports whether a line ends an export, and raises BadAnswerError if it states that the export broke off."""
    if line.startswith(b'{"end"'):
        return True
    if line.startswith(b'{"error"'):
        raise bad_answer(response, f"the export broke off: {line.decode()}")
    return False


def announcement(kind: str, data: str, response: httpx.Response) -> models.Announcement | Reset | None:
    """Returns an event, or None if its kind is unknown. Raises BadAnswerError if it is not what openapi.yaml states."""
    try:
        if kind == "reset":
            return Reset.model_validate_json(data)
        event: models.Announcement = adapter(models.Announcement).validate_json(data)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        if first["type"] != "json_invalid" and kind not in KINDS:
            return None
        raise bad_answer(response, f"an event is not what openapi.yaml describes: {first['msg']}") from wrong
    return event


class Late:
    """Limits the whole time of one attempt: the timeouts of httpx limit each piece of an answer alone."""

    def __init__(self, timeout: float) -> None:
        self._end = time.monotonic() + timeout

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise failure(httpx.ReadTimeout("the answer trickles"))


def whole(response: httpx.Response, pieces: list[bytes]) -> httpx.Response:
    """Returns a response with its body, whose pieces are not encoded any more."""
    of_body = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in of_body]
    return httpx.Response(response.status_code, headers=headers, content=b"".join(pieces), request=response.request)
