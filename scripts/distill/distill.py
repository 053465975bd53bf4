#!/usr/bin/env python3
"""Distils all-MiniLM-L6-v2 into the table of internal/wordvec: see README.md.

    model -> tokens alone, sentences -> rows by regression -> weights -> 256 axes -> int8
"""
import argparse
import json
import os
import pathlib

# One thread fixes the order of sums.
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import numpy as np
import onnxruntime
import scipy.sparse
import tokenizers

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "internal" / "wordvec"

CLS, SEP = 101, 102
FIRST_SIGN, FIRST_WORD = 999, 1996  # numbers of the vocabulary's first sign ("!") and of its most frequent word ("the")
SEED, ROUNDS, BATCH = 1, 12, 32  # each token stands in ROUNDS sentences
PULL = 0.1  # of a row towards what its token means alone: the ridge of the regression
RARE = 1e-4  # a of the weight a/(a+p): a token of this probability weighs half
DIGITS = 0.2  # weight of numbers, which dates make frequent and which say little
AXES = 256
UNIT = 1 << 20  # the integer that stands for the length of a middling word's row
MIDDLING = slice(2000, 20000)


class Model:
    def __init__(self, folder):
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.vocabulary = [self.tokenizer.id_to_token(i) for i in range(self.tokenizer.get_vocab_size())]

    def pieces(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def embed(self, sentences):
        """Mean-pooled embeddings, N x 384. Sentences of one length go together, so that nothing is padded."""
        out = np.zeros((len(sentences), 384), np.float32)
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        start = 0
        while start < len(order):
            length, end = len(sentences[order[start]]), start + 1
            while end < len(order) and end < start + BATCH and len(sentences[order[end]]) == length:
                end += 1
            batch = order[start:end]
            ids = np.array([[CLS, *sentences[i], SEP] for i in batch], np.int64)
            feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            out[batch] = self.session.run(None, feed)[0].mean(1)
            start = end
        return out


def sentences(model):
    """Frames filled so that each token stands in ROUNDS of them; an inner piece follows a (mostly frequent) word."""
    random = np.random.Generator(np.random.PCG64(SEED))
    inner = np.array([token.startswith("##") for token in model.vocabulary])
    numbers = np.arange(len(inner))
    tokens = np.concatenate([random.permutation(numbers[FIRST_SIGN:]) for _ in range(ROUNDS)])
    words = numbers[FIRST_SIGN:][~inner[FIRST_SIGN:]]
    lines = (HERE / "frames.txt").read_text().splitlines()
    frames = [[model.pieces(part) for part in line.split("{}")] for line in lines]
    filled, used = [], 0
    while used < len(tokens):
        for frame in random.permutation(len(frames)):
            first, *rest = frames[frame]
            sentence = list(first)
            for part in rest:
                token = int(tokens[used % len(tokens)])
                used += 1
                if inner[token]:
                    sentence.append(int(words[int(len(words) * random.random() ** 2)]))
                sentence += [token, *part]
            filled.append(sentence)
    return filled


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def regress(sentences, embeddings, alone):
    """Rows whose average over a sentence's tokens comes nearest to its embedding: ridge regression towards the
    tokens' own embeddings, by conjugate gradients, all 384 numbers at once."""
    counts = np.array([len(s) for s in sentences])
    cells = np.repeat(1 / counts, counts).astype(np.float32)
    averages = scipy.sparse.csr_matrix(
        (cells, np.concatenate(sentences), np.r_[0, np.cumsum(counts)]), shape=(len(counts), len(alone))
    )
    averages.sum_duplicates()
    target = unit(embeddings)
    target -= target.mean(0)
    guess = averages @ alone
    alone = alone * np.float32((guess * target).sum() / (guess * guess).sum())
    transposed = averages.T.tocsr()
    change = np.zeros_like(alone)
    residual = transposed @ (target - averages @ alone)
    direction, square = residual.copy(), (residual * residual).sum(0)
    for _ in range(25):
        image = transposed @ (averages @ direction) + np.float32(PULL) * direction
        step = square / np.maximum((direction * image).sum(0), 1e-20)
        change += step * direction
        residual -= step * image
        before, square = square, (residual * residual).sum(0)
        direction = residual + square / np.maximum(before, 1e-20) * direction
    return alone + change


def weights(vocabulary):
    """Smooth inverse frequency (Arora et al., ICLR 2017), with Zipf's law for the probability: the vocabulary is
    ordered by frequency. Zero for what the model does not understand."""
    rank = np.maximum(np.arange(len(vocabulary)) - FIRST_SIGN + 5, 1)
    weight = RARE / (RARE + 1 / (11 * (rank + 2.7)))
    for i, token in enumerate(vocabulary):
        text = token.removeprefix("##")
        if i < FIRST_SIGN or not text.isascii():
            weight[i] = 0
        elif text.isdigit():
            weight[i] *= DIGITS
    return weight[:, None].astype(np.float32)


def compress(rows):
    """The rows on their AXES principal axes (uncentred), scaled so that a middling word has length 1."""
    rows = rows.astype(np.float64)
    _, axes = np.linalg.eigh(rows.T @ rows)
    axes = axes[:, ::-1][:, :AXES]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(AXES)])
    rows = rows @ axes
    return rows / np.sqrt(np.square(rows[MIDDLING]).sum(1).mean())


def quantise(rows):
    """int8 rows, and a uint16 for each row: number = row * scale / UNIT."""
    scales = np.ceil(np.abs(rows).max(1) / 127 * UNIT)
    assert scales.max() < 1 << 16
    small = np.round(rows * UNIT / np.maximum(scales, 1)[:, None])
    return small.astype(np.int8), scales.astype("<u2")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="folder of model.onnx and tokenizer.json")
    parser.add_argument("--out", type=pathlib.Path, default=PACKAGE)
    arguments = parser.parse_args()
    model = Model(arguments.model)
    out = arguments.out
    (out / "testdata").mkdir(parents=True, exist_ok=True)

    (out / "vocabulary.txt").write_text("\n".join(model.vocabulary) + "\n", encoding="utf-8")
    texts = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    cases = ["    " + json.dumps({"text": t, "pieces": model.pieces(t)}) for t in texts]
    (out / "testdata" / "pieces.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")

    alone = model.embed([[i] for i in range(len(model.vocabulary))])
    weight = weights(model.vocabulary)
    filled = sentences(model)
    print(f"{len(filled)} sentences", flush=True)
    rows = regress(filled, model.embed(filled), (alone - alone.mean(0)) * weight)
    small, scales = quantise(compress(rows * weight))
    (out / "table.bin").write_bytes(small.tobytes() + scales.tobytes())


if __name__ == "__main__":
    main()
