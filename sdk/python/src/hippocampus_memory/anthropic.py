"""Hippocampus as the backend of Anthropic's memory tool (extra `anthropic`)."""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool

from . import models
from ._sync import Hippocampus
from .errors import HippocampusError


class HippocampusMemoryTool(BetaAbstractMemoryTool):
    """Runs the commands of the tool on the files of a user, or of an agent of the user.

    client  of the server; else one of $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY
    """

    def __init__(self, user_id: str, agent_id: str | None = None, *, client: Hippocampus | None = None) -> None:
        super().__init__()
        self._client = client or Hippocampus()
        self._scope = {"user_id": user_id} | ({"agent_id": agent_id} if agent_id else {})

    def _run(self, command: Any) -> str:
        try:
            result = self._client.request(
                models.MemoryToolResult, "POST", "/v1/memory-tool", body=self._scope | command.to_dict()
            )
        except HippocampusError as error:  # such as a path that is missing
            raise ToolError(error.detail) from error
        if result.is_error:
            raise ToolError(result.content)
        return result.content

    view = create = str_replace = insert = delete = rename = _run
