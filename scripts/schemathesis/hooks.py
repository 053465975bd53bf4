"""What schemathesis needs to know about the API besides server/api/openapi.yaml."""

import json
import re
from urllib.parse import urlsplit, urlunsplit

import schemathesis

NDJSON = "application/x-ndjson"
IMPORT = "/v1/import"

# What neither OpenAPI 3.0 nor obey_unstated can state: the paths and the messages of faults that a request allowed by
# the schema may have. The descriptions of the fields state these rules.
UNSTATED = [
    (r"", r"^has \d+ (bytes|characters in its canonical form)"),  # a schema counts characters, of the text as it is sent
    (r"^to$", r"^is the memory itself"),  # which the path names
    (r"^line \d+$", r""),  # the bullets of a Markdown file
    (r"^query\.user_id$", r"^is (empty|missing|shorter)"),  # of a file, which only a key of one user may leave out
    (r"^time_zone$", r"^is not the name of a time zone"),  # of which there is a list
    (r"^valid_until$", r"^has passed"),  # the clock
    (r"^expires_at$", r"^is neither a day"),  # 31 November
    (r"^(query\.)?filter", r""),  # the language of filters
    (r"", r"^is missing: the command \w+ needs it"),  # each command of the memory tool needs other fields
    (r"", r"^is not supported: "),  # the subset of JSON Schema for profiles
    (r"^properties(\.|$)", r""),
    (r"^additionalProperties$", r"^must be false"),
    (r"^(into|to)$", r"^names the user of the path"),
    (r"^(used|irrelevant|wrong|withdrawn)\[\d+\]$", r"^names the same memory as"),  # another list does
    (r"^body$", r"^names no memory"),  # feedback, all of whose lists are empty
    (r"^group$", r"^shares a conversation"),  # which conversation_id names
    (r"^name$", r"^is the name of admin_key's key"),
    (r"^user_id$", r"^is required, since only a key of the role admin"),
    (r"^participants\[", r"^holds the control character"),  # a name, which OpenAPI 3.0 cannot describe
    (r"^policy$", r"^goes with dry_run"),
    (r"^(query\.)?cursor$", r"^is a cursor of another list"),
    (r"^context$", r"^goes with return"),
    (r"^dry_run$", r"^is false, but cursor and limit"),
    (r"^query\.contributor$", r"^is needed with memory_id"),
    (r"^query\.path$", r"^has (\d+ segments|a segment that)|^is not in Unicode's form NFC"),  # FilePath describes it
]


@schemathesis.serializer(NDJSON)
def ndjson(context, value):
    """Writes a list as lines after the first one of an export, and anything else as it is."""
    if isinstance(value, list):
        header = {"format": "hippocampus-export", "version": 2, "exported_at": "2026-01-31T08:00:00Z"}
        value = "".join(json.dumps(line) + "\n" for line in [header, *value])
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.serializer("text/markdown")
def markdown(context, value):
    """Writes a file as it is."""
    return value if isinstance(value, bytes) else str(value).encode()


def without_nul(value):
    """Returns a JSON value whose texts and keys have no NUL character."""
    if isinstance(value, str):
        return value.replace("\0", "0")
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    return value


def obey_unstated(case):
    """Changes a request that the schema allows so that it keeps the rules between fields and those of open objects."""
    query, body = case.query or {}, case.body
    if query.get("scope") in HOLDERS and "merged" not in case.path:
        holder = HOLDERS[query["scope"]]
        case.query = {key: value for key, value in query.items() if key not in HOLDERS.values() or key == holder}
        if holder:
            case.query.setdefault(holder, "ada")
    for fields in filter(lambda fields: isinstance(fields, dict), (case.query, body)):
        for earlier, later in (("since", "until"), ("valid_from", "valid_until")):
            if earlier in fields:
                fields.pop(later, None)
        if fields.get("include"):
            fields.pop("types", None)
    if isinstance(body, (dict, list)):
        case.body = without_nul(body)


# What a scope of instructions needs besides its name.
HOLDERS = {"app": None, "agent": "agent_id", "user": "user_id"}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes a valid request obey unstated rules. Sends no webhook to a host: one that was generated could exist."""
    if case.meta and case.meta.generation.mode.is_positive:
        obey_unstated(case)
    if not isinstance(case.body, dict) or not isinstance(case.body.get("url"), str):
        return
    try:
        url = urlsplit(case.body["url"])
        if url.hostname:
            case.body["url"] = urlunsplit(url._replace(netloc="fuzz.invalid"))
    except ValueError:
        pass  # the server refuses it, too


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops refusals whose faults all break rules in UNSTATED, and files of Markdown that were no text before."""
    if failure.title == "Schema-violating request accepted" and case.media_type == "text/markdown":
        return isinstance(case.body, str)
    if failure.title != "Schema-valid request rejected" or response.status_code != 400:
        return True
    faults = response.json().get("errors", [])
    return not faults or not all(
        any(re.search(path, fault["path"]) and re.search(message, fault["message"]) for path, message in UNSTATED)
        for fault in faults
    )


@schemathesis.check
def import_counts_lines(ctx, response, case):
    """Fails unless an import answers how many lines it has read."""
    if case.operation.path == IMPORT and response.status_code == 200 and isinstance(case.body, list):
        sent, counted = len(case.body) + 1, response.json()["lines"]
        assert counted == sent, f"{sent} lines were sent, {counted} counted"
