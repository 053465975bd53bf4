"""Exports, imports and events (asyncio)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from typing_extensions import Unpack

from . import errors, models, requests
from ._async_transport import AsyncTransport
from ._wire import (
    AsyncLines,
    EventReader,
    Reset,
    Splitter,
    announcement,
    bad_answer,
    chunks_async,
    decode,
    expect,
    is_last,
)

HEARTBEATS = 45.0  # seconds; the server sends a comment every 15
IMPORT = 300.0  # seconds in which the server answers after the last line of an import


class AsyncStreams(AsyncTransport):
    """Adds the routes whose bodies are streams."""

    async def export(self, **parameters: Unpack[requests.ExportMemoriesQuery]) -> AsyncIterator[bytes]:
        """Yields the lines of an export, as JSON with a newline each: write them to a file, or json.loads() them.

        It raises BadAnswerError or UnreachableError if the export breaks off.
        """
        attempt = 0
        while True:
            begun = False
            try:
                async with self._open("GET", "/v1/export", parameters) as response:
                    expect("application/x-ndjson", response)
                    begun, complete, splitter = True, False, Splitter()
                    async for chunk in response.aiter_bytes():
                        for line in splitter.feed(chunk):
                            complete = is_last(line, response)
                            yield line + b"\n"
                    if not complete:
                        raise bad_answer(response, "the export broke off: it has no line `end`")
                    return
            except errors.HippocampusError as error:
                wait = None if begun else self._policy.wait(error, attempt)
                if wait is None:
                    raise
            await self._sleep(wait)
            attempt += 1

    async def import_(self, lines: AsyncLines) -> models.ImportReport:
        """Sends the lines of an export, such as a file that was opened with "rb". What exists already is skipped."""
        headers = {"Content-Type": "application/x-ndjson"}
        content = chunks_async(lines)
        async with self._open("POST", "/v1/import", None, None, content, headers, IMPORT) as response:
            await response.aread()
            return decode(models.ImportReport, response)

    async def events(
        self, **parameters: Unpack[requests.StreamEventsQuery]
    ) -> AsyncIterator[models.Announcement | Reset]:
        """Yields events as they happen, or those since the event `after`, until the caller stops.

        After a cut the stream resumes after the last event. It fails when as many streams in a row bring nothing as
        a request may have attempts. A Reset states that events may have been missed. Events of unknown kinds are left
        out.
        """
        reader = EventReader(parameters.get("after"))
        attempt = 0
        while True:
            headers = {"Last-Event-ID": reader.last_id} if reader.last_id else None
            last, anything = reader.last_id, False
            try:
                async with self._open("GET", "/v1/events", parameters, None, None, headers, HEARTBEATS) as response:
                    expect("text/event-stream", response)
                    splitter = Splitter()
                    async for chunk in response.aiter_bytes():
                        for line in splitter.feed(chunk):
                            event = reader.feed(line)
                            anything = anything or event is not None or reader.last_id != last
                            if event is not None and (known := announcement(*event, response)) is not None:
                                yield known
                raise errors.error("unreachable", "the stream of events has ended")
            except errors.HippocampusError as error:
                wait = self._policy.wait(error, 0 if anything else attempt)
                if wait is None:
                    raise
            reader = EventReader(reader.last_id)
            await self._sleep(wait)
            attempt = 0 if anything else attempt + 1
