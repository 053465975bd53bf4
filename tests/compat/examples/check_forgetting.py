"""Runs the forgetting job for a user with one faded memory of ten, and for one whose memories have all faded."""

import subprocess
import sys

from hippocampus_memory import Hippocampus
from old_memories import import_old

FEW, ALL = "forget-few", "forget 'all'"


def job(*arguments):
    """Runs the job. It sees every user of the app."""
    done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


with Hippocampus() as memory:
    for i in range(9):
        memory.remember(user_id=FEW, content=f"Drinks tea number {i}.")
    import_old(FEW, "Had a cold.", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
    for i in range(3):
        at = f"{i + 2010}-01-01T00:00:00Z"
        import_old(ALL, f"Had a cold in {i + 2010}.", at, at)

    code, out, err = job("--dry-run")
    assert code == 1 and f'"{FEW}": 1 of 10 memories would be forgotten' in out, (code, out, err)
    assert f'"{ALL}": 3 of 3 memories have faded' in err, err
    assert len(list(memory.memories(user_id=FEW))) == 10

    code, out, err = job()
    assert code == 1 and f'"{FEW}": 1 memories are forgotten' in out, (code, out, err)
    assert [m.content for m in memory.memories(user_id=FEW, status=["forgotten"])] == ["Had a cold."]
    assert len(list(memory.memories(user_id=ALL))) == 3

    code, out, err = job("--max-share", "1")
    assert code == 0 and f'"{ALL}": 3 memories are forgotten' in out, (code, out, err)
    assert job() == (0, "", "")
