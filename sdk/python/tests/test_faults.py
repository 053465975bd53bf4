"""The table of faults that the clients of all languages share."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import httpx
import pytest
from conftest import ROOT, made
from faulty import ID, FaultyServer

import hippocampus_memory as sdk
from hippocampus_memory import errors

TABLE = json.loads((ROOT / "sdk" / "testdata" / "faults.json").read_text())
TURN: Any = {"user_id": "ada", "messages": [{"role": "user", "content": "I live in Lisbon."}]}
REQUESTS: dict[str, Any] = {
    "recall": lambda client: client.recall(user_id="ada", query="Where?"),
    "turn": lambda client: client.add_turn(**TURN),
    "get": lambda client: client.memory(ID),
    "update": lambda client: client.update(ID, content="Lives in Porto."),
    "reflect": lambda client: client.reflect(user_id="ada"),
    "events": lambda client: next(iter(client.events())),
    "export": lambda client: list(client.export()),
    "remember": lambda client: client.remember(user_id="ada", content="Lives in Lisbon."),
    "remember many": lambda client: client.remember_many([{"user_id": "ada", "content": "Lives in Lisbon."}]),
    "withdraw": lambda client: client.withdraw_turn(ID),
    "set user": lambda client: client.set_user("ada", time_zone="Asia/Shanghai"),
    "remember with dedup": lambda client: client.remember(user_id="ada", content="Lives in Lisbon.", dedup=True),
}


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: row["name"])
def test_faults_follow_the_table(row: dict[str, Any], form: str) -> None:
    waits: list[float] = []
    stalls = [bool(answer.get("stall") or answer.get("trickle")) for answer in row["answers"]]
    timeout = 0.2 if all(stalls) else 2 if any(stalls) else 30  # an answer may take a while on a busy machine
    with FaultyServer(row["answers"]) as server:
        client = made(form, server.url, "", timeout=timeout, sleep=waits.append)
        result: Any = "ok"
        try:
            REQUESTS[row["request"]](client)
        except sdk.HippocampusError as error:
            result = error
        finally:
            client.close()
        bodies = server.bodies

    assert len(bodies) == row["attempts"]
    assert len(waits) == len(row["waits"])
    for least, wait in zip(row["waits"], waits, strict=True):
        assert least <= wait <= least * 1.25
    if row.get("same_id"):
        assert len({body["id"] for body in bodies}) == 1
    if row["result"] == "ok":
        assert result == "ok"
        return
    assert isinstance(result, errors.CLASSES[row["result"]["kind"]])
    for name, wanted in row["result"].items():
        got = getattr(result, name)
        assert ([field._asdict() for field in got] if name == "errors" else got) == wanted
    assert result.request_id == ("request-1" if "status" in row["result"] else None)


def test_policy_is_that_of_the_table() -> None:
    policy = sdk.Hippocampus("http://localhost")._policy
    assert {name: getattr(policy, name) for name in TABLE["policy"]} == TABLE["policy"]


def test_errors_can_be_printed_and_pickled() -> None:
    fields = [sdk.FieldError("messages[0].role", "must be user")]
    error = errors.error("invalid", "The request is not valid", status=400, errors=fields, request_id="r-1")
    assert str(error) == "The request is not valid; messages[0].role must be user (invalid, request r-1)"
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, sdk.InvalidError)
    assert (again.kind, again.status, again.errors) == ("invalid", 400, fields)


def test_key_and_url_come_from_options_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer([{"status": 200}]) as server:
        monkeypatch.setenv("HIPPOCAMPUS_URL", server.url + "/")
        monkeypatch.setenv("HIPPOCAMPUS_KEY", "from-environment")
        with sdk.Hippocampus() as client:
            client.memory(ID)
        with sdk.Hippocampus(key="given") as client:
            client.with_options(timeout=5).memory(ID)
        with sdk.Hippocampus(key="") as client:
            client.memory(ID)
        sent = [headers["Authorization"] for headers in server.headers]
    assert sent == ["Bearer from-environment", "Bearer given", None]
    with pytest.raises(ValueError, match="must begin with http"):
        sdk.Hippocampus("localhost:8080")


def test_client_of_httpx_may_be_given(form: str) -> None:
    with FaultyServer([{"status": 200}]) as server:
        http: Any = httpx.Client() if form == "sync" else httpx.AsyncClient()
        http.headers["X-Proxy"] = "mine"
        client = made(form, server.url, "", http=http)
        client.memory(ID)
        client.close()
        assert server.headers[0]["X-Proxy"] == "mine"
        assert not http.is_closed


def test_every_error_is_exported() -> None:
    assert {error.__name__ for error in errors.CLASSES.values()} <= set(sdk.__all__)
    assert pathlib.Path(sdk.__file__).with_name("py.typed").exists()
