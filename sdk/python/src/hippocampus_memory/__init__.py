"""Client of the Hippocampus memory server.

Hippocampus and AsyncHippocampus have the same methods. `models` has the types of the answers, `requests` those of the
arguments. The adapters for frameworks are modules of their own: hippocampus_memory.adk, .langgraph, .langchain,
.llamaindex and .anthropic.
"""

from . import models, requests
from ._async import AsyncHippocampus
from ._sync import Hippocampus
from ._wire import Reset
from .errors import (
    BadAnswerError,
    ConflictError,
    FieldError,
    ForbiddenError,
    HippocampusError,
    InternalError,
    InvalidError,
    NoAnswerInTimeError,
    NotFoundError,
    TooFastError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
)

__all__ = [
    "AsyncHippocampus",
    "BadAnswerError",
    "ConflictError",
    "FieldError",
    "ForbiddenError",
    "Hippocampus",
    "HippocampusError",
    "InternalError",
    "InvalidError",
    "NoAnswerInTimeError",
    "NotFoundError",
    "Reset",
    "TooFastError",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "UnreachableError",
    "models",
    "requests",
]
