#!/usr/bin/env python3
"""Compute the numbers of fusion.golden.json anew, from the formulas of BM25, words, Lift and fuse.

    documents, queries with terms and cosines, cues -> bm25, lexical, neighbour, relevance, in order

It shares no code with the package. Terms, lexemes, cosines and what the cues say of a memory are read from the file.
Run after a change of a formula or of a constant, and read the difference:  python3 recall/testdata/fusion.py
"""
import json
import math
import pathlib

K1, B, FLOOR = 1.2, 0.4, 0.3
WORDS, CONTRAST = 0.5, 3
NEAR, FAR, QUESTION = 0.5, 0.2, 0.5
BESIDES_TIME = 0.25  # of words and meaning, if the times of a query alone say what it asks for
CUES = ("speaker", "date", "when")
FILE = pathlib.Path(__file__).with_name("fusion.golden.json")


def bm25(documents, terms):
    """The score of each document, and the idf of all terms together."""
    bags = [d["lexemes"].split() for d in documents]
    average = sum(map(len, bags)) / len(bags)
    scores, whole = [0.0] * len(bags), 0.0
    for term in terms:
        df = sum(term in bag for bag in bags)
        idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        whole += idf
        for i, bag in enumerate(bags):
            tf = bag.count(term)
            scores[i] += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(bag) / average))
    return scores, whole


def lift(documents, values, i):
    """How far document i rises towards those before and after it in its conversation; None has no value."""
    def best(distance):
        beside = (j for j in (i - distance, i + distance) if 0 <= j < len(documents))
        same = (values[j] for j in beside if documents[j]["conversation"] == documents[i]["conversation"] != "")
        return max((v for v in same if v is not None), default=0.0)

    own = values[i] or 0.0
    return NEAR * max(0, best(1) - own) + FAR * max(0, best(2) - own)


def ranking(documents, case):
    scores, whole = bm25(documents, case["terms"])
    full = max(FLOOR * whole, *scores)
    lexical = [s / full if s else 0.0 for s in scores]
    cosine, known = case["cosine"], {row["id"]: row for row in case["ranking"]}
    among = [i for i in range(len(documents)) if cosine or lexical[i] + lift(documents, lexical, i) > 0]
    values = [None] * len(documents)
    for i in among:
        values[i] = lexical[i]
        if cosine:
            meaning = (cosine[i] - min(cosine)) / (max(cosine) - min(cosine))
            values[i] = WORDS * lexical[i] + (1 - WORDS) * meaning
        if case.get("timeOnly"):
            values[i] *= BESIDES_TIME
    rows = []
    for i in among:
        cues = known[documents[i]["id"]]
        row = {"id": documents[i]["id"], "cosine": cosine[i] if cosine else None, "bm25": scores[i], "lexical": lexical[i],
               "neighbour": lift(documents, values, i), **{k: cues[k] for k in (*CUES, "question")}}
        raised = values[i] + row["neighbour"] + sum(row[k] for k in CUES)
        rows.append({**row, "relevance": raised * (1 - QUESTION * row["question"])})
    best = max((row["relevance"] for row in rows), default=0.0)
    for row in rows:
        row["relevance"] = (row["relevance"] / best) ** CONTRAST if best else 0.0
    rows.sort(key=lambda row: (-row["relevance"], row["id"]))
    return [{k: round(v, 9) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def main():
    golden = json.loads(FILE.read_text())
    for case in golden["cases"]:
        case["ranking"] = ranking(golden["documents"], case)
    FILE.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
