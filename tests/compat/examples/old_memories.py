"""Imports memories that fade from an earlier time on: a written memory fades from its write on, whatever its date."""

import json
import os
import subprocess
import urllib.request
import uuid

CREATE_KEY = [os.environ["COMPAT_BINARY"], "key", "create", "--app", "compat", "--role", "admin"]
ADMIN = subprocess.run(CREATE_KEY, capture_output=True, text=True, check=True).stdout.strip()


def import_old(user, content, created, changed, **fields):
    """Imports a memory that was created and last accessed at one instant, and changed at another."""
    memory = {"id": str(uuid.uuid4()), "user_id": user, "content": content, "type": "fact", "domain": "general_chat"}
    memory |= {"tags": [], "importance": 0.5, "pinned": False, "status": "active", "access_count": 0}
    memory |= {"created_at": created, "updated_at": changed, "last_accessed_at": created}
    memory |= fields
    head = {"format": "hippocampus-export", "version": 1, "exported_at": changed}
    lines = [head, {"memory": memory, "events": [], "relations": []}, {"end": {"memories": 1}}]
    headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/x-ndjson"}
    stream = "".join(json.dumps(line) + "\n" for line in lines).encode()
    request = urllib.request.Request(os.environ["COMPAT_URL"] + "/v1/import", stream, headers)
    with urllib.request.urlopen(request) as answer:
        report = json.load(answer)
    assert report["imported"] == 1, report
