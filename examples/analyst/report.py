#!/usr/bin/env python3
"""Looks at the memories of all apps where they are stored: contents and domains in Milvus, ages in Postgres.

    pip install pymilvus 'psycopg[binary]' matplotlib
    ./report.py --milvus http://127.0.0.1:19530 --database postgres://hippocampus@127.0.0.1/hippocampus --out report

writes memories.csv (domain, type and content), retention.csv (by day), domains.png and retention.png. It only reads;
give it users of both stores that may only read.
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

# The policy `strengthening` of the server (docs/flows/maintenance.md). A memory fades since its last access, or since
# it was recorded or changed if that was later. Of that time the user's active days count, and what is left of an
# absence after forgetting.max_absence; all of it, if no day is known. Kept memories do not fade by time alone.
RETENTION = """
    WITH active AS (
        SELECT app_id, user_id, agent_id, day * 86400::float8 AS begins,
               lead(day * 86400::float8, 1, 'infinity') OVER owner AS next
        FROM active_days WHERE %(clock)s = 'active'
        WINDOW owner AS (PARTITION BY app_id, user_id, agent_id ORDER BY day)
    ), counted AS (
        SELECT app_id, user_id, agent_id, begins, begins + 86400 AS ends FROM active
        UNION ALL
        SELECT app_id, user_id, agent_id, begins + 86400 * (1 + %(max_absence)s), next FROM active
    ), known AS (
        SELECT DISTINCT app_id, user_id, agent_id FROM active
    ), ages AS (
        SELECT id, m.app_id, m.user_id, coalesce(a.agent_id, u.agent_id) AS agent_id, access_count AS accesses,
               importance_score AS importance, (created_at AT TIME ZONE 'UTC')::date AS day,
               extract(epoch FROM greatest(last_accessed_at, updated_at))::float8 AS since,
               extract(epoch FROM now())::float8 AS now, pinned OR memory_type = 'reflection'
                   OR memory_type = ANY (%(keep_types)s) AND importance_score >= %(keep_importance)s AS kept
        FROM agent_memories m
        LEFT JOIN known u ON (u.app_id, u.user_id, u.agent_id) = (m.app_id, m.user_id, '')
        LEFT JOIN known a ON (a.app_id, a.user_id, a.agent_id) = (m.app_id, m.user_id, m.agent_id)
        WHERE status = 'active'
    ), idle AS (
        SELECT day, accesses, importance, kept, CASE WHEN m.agent_id IS NULL THEN greatest(now - since, 0)
               ELSE coalesce(sum(least(ends, now) - greatest(begins, since)), 0) END / 86400 AS days
        FROM ages m LEFT JOIN counted c ON (c.app_id, c.user_id, c.agent_id) = (m.app_id, m.user_id, m.agent_id)
             AND greatest(begins, since) < least(ends, now)
        GROUP BY id, day, accesses, importance, kept, m.agent_id, now, since
    )
    SELECT day, count(*) FILTER (WHERE NOT kept), count(*) FILTER (WHERE kept),
           avg(power(%(base)s, days / power(%(growth)s, accesses)) * (0.5 + 0.5 * importance)) FILTER (WHERE NOT kept)
    FROM idle GROUP BY day ORDER BY day
"""


def contents(milvus: MilvusClient, prefix: str) -> list[dict[str, str]]:
    """Returns the domain, type and content of each memory in the collections of the server.

    There is one collection for each embedding model; its name begins with the setting milvus.collection. While a
    changed model takes over, a memory is in two of them.
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


def retention_by_day(database: str, rule: dict[str, object]) -> list[tuple[date, int, int, float | None]]:
    """Returns, for each day (UTC), how many of its active memories fade, how many are kept, and the mean retention of
    the first now."""
    with psycopg.connect(database) as connection:
        connection.read_only = True
        return connection.execute(RETENTION, rule).fetchall()


def draw_domains(rows: list[dict[str, str]], path: Path) -> None:
    counts = Counter(row["domain"] for row in rows).most_common()
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    axes.barh([domain for domain, _ in reversed(counts)], [count for _, count in reversed(counts)])
    axes.set(title="Memories by domain", xlabel="memories")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_retention(days: list[tuple[date, int, int, float | None]], threshold: float, path: Path) -> None:
    figure, (upper, lower) = pyplot.subplots(2, figsize=(8, 6), sharex=True, layout="constrained")
    when, fading, kept = ([row[column] for row in days] for column in range(3))
    faded = [(day, retention) for day, _, _, retention in days if retention is not None]
    upper.plot([day for day, _ in faded], [retention for _, retention in faded], marker="o")
    upper.axhline(threshold, color="tab:red", linestyle="--", label="forgotten below")
    upper.set(title="Retention by day of the memory", ylabel="mean retention", ylim=(0, 1))
    upper.legend()
    lower.bar(when, fading, label="fade")
    lower.bar(when, kept, bottom=fading, label="kept")
    lower.set(ylabel="active memories")
    lower.legend()
    figure.autofmt_xdate()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--milvus", default="http://127.0.0.1:19530", help="address")
    options.add_argument("--collection", default="agent_memories_vectors", help="setting milvus.collection")
    options.add_argument("--database", required=True, help="URL of Postgres")
    rule = options.add_argument_group("settings forgetting.*, as on the server")
    rule.add_argument("--clock", choices=("active", "wall"), default="active")
    rule.add_argument("--max-absence", type=float, default=365, help="days")
    rule.add_argument("--keep-types", type=lambda names: names.split(","), default=["fact", "preference"])
    rule.add_argument("--keep-importance", type=float, default=0.83)
    rule.add_argument("--base", type=float, default=0.9)
    rule.add_argument("--growth", type=float, default=1.5)
    rule.add_argument("--threshold", type=float, default=0.1)
    options.add_argument("--out", type=Path, default=Path("report"), help="folder for the results")
    given = options.parse_args()

    rows = contents(MilvusClient(given.milvus), given.collection)
    days = retention_by_day(given.database, vars(given))
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "memories.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    with (given.out / "retention.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("day", "fading", "kept", "retention"), *days])
    draw_domains(rows, given.out / "domains.png")
    draw_retention(days, given.threshold, given.out / "retention.png")
    fading, kept = (sum(row[column] for row in days) for column in (1, 2))
    print(f"{len(rows)} memories in Milvus; in Postgres {fading} fade and {kept} are kept, of {len(days)} days")


if __name__ == "__main__":
    main()
