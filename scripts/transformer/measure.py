#!/usr/bin/env python3
"""Prints the alternatives of decision 46, measured by cosine alone, without a server.

    axes      R@5 of questions by how many numbers an embedding has
    length    R@5 of long texts by how much of them is read
    signals   how well the cosines of a question show that it is about another user (area under the curve)
"""
import argparse
import json
import pathlib

import numpy as np

from export import AXES, HERE, Model, sentences

REPOSITORY = HERE.parent.parent
BENCH = REPOSITORY / "cmd" / "bench"
SIGNATURE = 3  # length of a document's signature, where a Han character has 1


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def conversations():
    """Turns and questions with the places of their evidence, by user."""
    for file in sorted((BENCH / "testdata" / "zh").glob("*.json")):
        c = json.loads(file.read_text(encoding="utf-8"))
        places = {turn["id"]: i for i, turn in enumerate(c["turns"])}
        yield [t["text"] for t in c["turns"]], [(q["text"], {places[e] for e in q["evidence"]}) for q in c["questions"]]


def lives():
    """Statements with small talk, questions without a shared pair of characters, and foreign questions, by user."""
    rows = [line.split("\t") for line in (BENCH / "chinese/testdata/lives.tsv").read_text("utf-8").splitlines()]
    talk = (BENCH / "changes/testdata/others.tsv").read_text("utf-8").splitlines()
    talk = [line.split("\t")[1] for line in talk if line.startswith("zh\t")]
    for i, user in enumerate(dict.fromkeys(row[0] for row in rows)):
        own = [row for row in rows if row[0] == user]
        texts = [row[1] for row in own] + [talk[(j * len(talk) // 60 + i) % len(talk)] for j in range(60)]
        yield texts, [(row[3], {j}) for j, row in enumerate(own)], [row[2] for row in rows if row[0] != user]


def recall(cosines, evidence, first=5):
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :first]
    return [bool(set(row) & wanted) for row, wanted in zip(order, evidence)]


def pivot(texts):
    """What the signature does to the cosine of a query and a document."""
    length = np.sqrt([len(t) for t in texts])
    return length / np.hypot(length, SIGNATURE)


def area(higher, lower):
    return float((np.array(higher)[:, None] > np.array(lower)[None]).mean())


def axes_of(rows):
    mean = rows.mean(0)
    return mean, np.linalg.eigh((rows - mean).T @ (rows - mean))[1][:, ::-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="folder of model.onnx and tokenizer.json")
    model = Model(parser.parse_args().model)
    mean, axes = axes_of(model.embed(sentences()).astype(np.float64))
    users = [(t, model.embed(t), model.embed([q for q, _ in qs]), [e for _, e in qs]) for t, qs in conversations()]
    people = [
        (t, model.embed(t), model.embed([q for q, _ in qs]), [e for _, e in qs], model.embed(foreign))
        for t, qs, foreign in lives()
    ]

    print("axes: R@5, no pair shared / Chinese conversations")
    choices = [("as the model gives them", lambda v: v, False)]
    for n in (512, 256, AXES, 128):
        choices.append((f"{n} without the mean", lambda v, n=n: unit((v - mean) @ axes[:, :n]), False))
    choices.append((f"{AXES} with the signature", choices[3][1], True))
    for name, project, signed in choices:
        shares = []
        for group in ([p[:4] for p in people], users):
            found = []
            for texts, documents, questions, evidence in group:
                cosines = project(questions) @ project(documents).T
                found += recall(cosines * pivot(texts) if signed else cosines, evidence)
            shares.append(np.mean(found))
        print(f"  {name}: {shares[0]:.3f} / {shares[1]:.3f}")

    print("length: R@5 of texts of 20 turns")
    project = choices[3][1]
    for name, most, part in (
        ("first 128", 128, 512), ("first 256", 256, 512), ("first 512", 512, 512),
        ("parts of 32", 256, 32), ("parts of 64", 512, 64), ("parts of 128", 512, 128),
    ):  # fmt: skip
        texts, questions, evidence = [], [], []
        for turns, asked in conversations():
            base = len(texts)
            texts += ["\n".join(turns[i : i + 20]) for i in range(0, len(turns), 20)]
            questions += [q for q, _ in asked]
            evidence += [{base + i // 20 for i in e} for _, e in asked]
        rows = []
        for text in texts:  # a character is nearly always one piece
            text = text[: most - 2]
            parts = [text[i : i + part - 2] for i in range(0, len(text), part - 2)]
            rows.append(project(model.embed(parts, most=512)).mean(0))
        cosines = project(model.embed(questions)) @ unit(np.array(rows)).T
        print(f"  {name}: {np.mean(recall(cosines, evidence)):.3f}")

    print("signals: area under the curve, no pair shared against foreign")
    signals = {"own": [], "foreign": []}
    for texts, documents, questions, _, foreign in people:
        for kind, rows in (("own", questions), ("foreign", foreign)):
            c = np.sort(project(rows) @ project(documents).T * pivot(texts), axis=1)[:, ::-1]
            signals[kind].append(
                np.array([c[:, 0], (c[:, 0] - c.mean(1)) / c.std(1), *(c[:, 0] - c[:, i] for i in (1, 4, 9))])
            )
    own, foreign = (np.concatenate(signals[kind], axis=1) for kind in ("own", "foreign"))
    for i, name in enumerate(("best", "z-score", "margin to the second", "to the fifth", "to the tenth")):
        print(f"  {name}: {area(own[i], foreign[i]):.3f}")


if __name__ == "__main__":
    main()
