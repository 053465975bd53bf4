#!/usr/bin/env python3
"""Looks at the memories of all apps where they are stored: contents and domains in Milvus, ages in Postgres.

    pip install pymilvus 'psycopg[binary]' matplotlib
    ./report.py --milvus http://127.0.0.1:19530 --database postgres://hippocampus@127.0.0.1/hippocampus --out report

writes memories.csv (domain, type and content), retention.csv (by day), domains.png and retention.png. It only reads; give it users of both
stores that may only read.
"""

import argparse
import csv
from collections import Counter
from datetime import date
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # pictures without a screen
import psycopg
from matplotlib import pyplot
from pymilvus import MilvusClient

COLUMNS = ("domain", "type", "content")

# The policy `strengthening` of the server (docs/flows/maintenance.md), with the settings forgetting.base and
# forgetting.growth. A memory fades since its last access, or since it was recorded or changed if that was later.
RETENTION = """
    SELECT created_at::date AS day, count(*),
           avg(power(%(base)s, extract(epoch FROM greatest(now() - greatest(last_accessed_at, updated_at), '0')) / 86400
                               / power(%(growth)s, access_count)) * (0.5 + 0.5 * importance_score))
    FROM agent_memories
    WHERE status = 'active' AND NOT pinned AND memory_type <> 'reflection'
    GROUP BY day
    ORDER BY day
"""


def contents(milvus: MilvusClient, prefix: str) -> list[dict[str, str]]:
    """Returns the domain, type and content of each memory in the collections of the server.

    There is one collection for each embedding model; its name begins with the setting milvus.collection. While a changed
    model takes over, a memory is in two of them.
    """
    rows = {}
    for collection in milvus.list_collections():
        if not collection.startswith(prefix):
            continue
        pages = milvus.query_iterator(collection, batch_size=1000, output_fields=["domain", "memory_type", "content"])
        while page := pages.next():
            rows |= {row["id"]: [row["domain"], row["memory_type"], row["content"]] for row in page}
        pages.close()
    return [dict(zip(COLUMNS, row)) for row in sorted(rows.values())]


def retention_by_day(database: str, base: float, growth: float) -> list[tuple[date, int, float]]:
    """Returns, for each day, how many of its memories are active, and their mean retention now."""
    with psycopg.connect(database) as connection:
        connection.read_only = True
        return connection.execute(RETENTION, {"base": base, "growth": growth}).fetchall()


def draw_domains(rows: list[dict[str, str]], path: Path) -> None:
    counts = Counter(row["domain"] for row in rows).most_common()
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    axes.barh([domain for domain, _ in reversed(counts)], [count for _, count in reversed(counts)])
    axes.set(title="Memories by domain", xlabel="memories")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_retention(days: list[tuple[date, int, float]], threshold: float, path: Path) -> None:
    figure, (upper, lower) = pyplot.subplots(2, figsize=(8, 6), sharex=True, layout="constrained")
    when = [day for day, _, _ in days]
    upper.plot(when, [retention for _, _, retention in days], marker="o")
    upper.axhline(threshold, color="tab:red", linestyle="--", label="forgotten below")
    upper.set(title="Retention by day of the memory", ylabel="mean retention", ylim=(0, 1))
    upper.legend()
    lower.bar(when, [count for _, count, _ in days])
    lower.set(ylabel="active memories")
    figure.autofmt_xdate()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--milvus", default="http://127.0.0.1:19530", help="address")
    options.add_argument("--collection", default="agent_memories_vectors", help="setting milvus.collection")
    options.add_argument("--database", required=True, help="URL of Postgres")
    options.add_argument("--base", type=float, default=0.9, help="setting forgetting.base")
    options.add_argument("--growth", type=float, default=1.5, help="setting forgetting.growth")
    options.add_argument("--threshold", type=float, default=0.1, help="setting forgetting.threshold")
    options.add_argument("--out", type=Path, default=Path("report"), help="folder for the results")
    given = options.parse_args()

    rows = contents(MilvusClient(given.milvus), given.collection)
    days = retention_by_day(given.database, given.base, given.growth)
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "memories.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    with (given.out / "retention.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("day", "memories", "retention"), *days])
    draw_domains(rows, given.out / "domains.png")
    draw_retention(days, given.threshold, given.out / "retention.png")
    fading = sum(count for _, count, _ in days)
    print(f"{len(rows)} memories in Milvus; in Postgres {fading} that fade, of {len(days)} days")


if __name__ == "__main__":
    main()
