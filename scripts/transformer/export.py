#!/usr/bin/env python3
"""Writes bge-small-zh-v1.5 in the form that internal/bert reads: see README.md.

    model.onnx     -> rows of pieces, int8 matrices with their scales  -> weights.bin
    tokenizer.json -> pieces that a text can have                      -> vocabulary.txt
    frames.txt     -> sentences -> embeddings -> principal axes        -> weights.bin
    texts.json     -> pieces and embeddings of onnxruntime             -> testdata/golden.json
"""
import argparse
import json
import os
import pathlib
import random
import re

# One thread fixes the order of sums.
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import jieba
import numpy as np
import onnx
import onnxruntime
import tokenizers

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "internal" / "bert"

LAYERS, HIDDEN = 4, 512
POSITIONS = 256  # tokens that are read of a text
AXES = 192  # numbers that an embedding is projected to
SENTENCES, SEED = 8000, 1
POOLS = {"n": 8000, "v": 3000, "nr": 2000, "ns": 800, "a": 800}  # most frequent words by part of speech
LEAST = 20  # occurrences of a word in the corpus of jieba's dictionary


class Model:
    def __init__(self, folder):
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        # The vocabulary has no capital letters. The file leaves them as they are, which makes each of them unknown.
        self.tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        graph = onnx.load(folder / "model.onnx").graph
        self.tensors = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
        self.matrices = [node.input[1] for node in graph.node if node.op_type == "MatMulInteger"]
        self.vocabulary = [self.tokenizer.id_to_token(i) for i in range(self.tokenizer.get_vocab_size())]

    def embed(self, texts, most=POSITIONS):
        """Unit vectors of [CLS], N x 512, of the first pieces of each text."""
        self.tokenizer.enable_truncation(most)
        rows = []
        for text in texts:
            ids = np.array([self.tokenizer.encode(text).ids], np.int64)
            feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            rows.append(self.session.run(None, feed)[0][0, 0])
        rows = np.array(rows)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def kept(vocabulary):
    """Numbers of the pieces that a text can have: Chinese characters are words of their own, so that none is inner."""
    han = re.compile("##[\u3400-\u9fff\uf900-\ufaff]")
    special = {"[UNK]", "[CLS]", "[SEP]"}
    return [
        i
        for i, piece in enumerate(vocabulary)
        if piece in special or not (han.match(piece) or re.fullmatch(r"\[.+\]", piece))
    ]


def sentences():
    """Frames filled with frequent words of jieba's dictionary."""
    words = {part: [] for part in POOLS}
    dictionary = pathlib.Path(jieba.__file__).parent / "dict.txt"
    for line in dictionary.read_text(encoding="utf-8").splitlines():
        word, count, part = line.split()
        if part in words and 2 <= len(word) <= 4 and int(count) >= LEAST:
            words[part].append((-int(count), word))
    pools = {part: [word for _, word in sorted(words[part])[:most]] for part, most in POOLS.items()}
    choices = random.Random(SEED)
    frames = (HERE / "frames.txt").read_text(encoding="utf-8").splitlines()
    return [
        re.sub(r"\{(\w+)\}", lambda slot: choices.choice(pools[slot[1]]), frames[i % len(frames)])
        for i in range(SENTENCES)
    ]


def projection(model):
    """The mean of the sentences' embeddings, and their AXES principal axes, AXES x 512."""
    rows = model.embed(sentences()).astype(np.float64)
    mean = rows.mean(0)
    values, axes = np.linalg.eigh((rows - mean).T @ (rows - mean))
    axes = axes[:, ::-1][:, :AXES].T
    axes = axes * np.sign(axes[np.arange(AXES), np.abs(axes).argmax(1)])[:, None]
    print(f"{AXES} axes have {values[::-1][:AXES].sum() / values.sum():.3f} of the variance")
    return mean, axes


def weights(model, pieces):
    """What internal/bert/weights.go reads, in its order."""
    t = model.tensors
    floats = lambda *tensors: b"".join(np.asarray(x, "<f4").tobytes() for x in tensors)
    signed = lambda name: (t[name].astype(np.int16) - 128).astype(np.int8)
    yield signed("embeddings.word_embeddings.weight_quantized")[pieces].tobytes()
    yield signed("embeddings.position_embeddings.weight_quantized")[:POSITIONS].tobytes()
    yield floats(*(t[f"embeddings.{name}_embeddings.weight_scale"] for name in ("word", "position")))
    kind = signed("embeddings.token_type_embeddings.weight_quantized")[0].astype(np.float32)
    yield floats(kind * t["embeddings.token_type_embeddings.weight_scale"])
    yield floats(t["embeddings.LayerNorm.weight"], t["embeddings.LayerNorm.bias"])
    matrices = iter(model.matrices)
    for layer in range(LAYERS):
        for part in (
            "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            "intermediate.dense", "output.dense",
        ):  # fmt: skip
            name = next(matrices)
            matrix = np.ascontiguousarray(t[name].T)  # outputs x inputs
            assert np.abs(matrix.astype(int)).max() <= 64, "the kernel's sums of two products need 7 bits"
            assert not t[name.replace("_quantized", "_zero_point")].any()
            yield matrix.tobytes()
            yield matrix.sum(1, dtype="<i4").tobytes()
            yield floats(t[name.replace("_quantized", "_scale")], t[f"encoder.layer.{layer}.{part}.bias"])
            if part.endswith("output.dense"):
                norm = f"encoder.layer.{layer}.{part.removesuffix('dense')}LayerNorm"
                yield floats(t[norm + ".weight"], t[norm + ".bias"])
    yield floats(*projection(model))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="folder of model.onnx and tokenizer.json")
    parser.add_argument("--out", type=pathlib.Path, default=PACKAGE)
    arguments = parser.parse_args()
    model, out = Model(arguments.model), arguments.out
    (out / "testdata").mkdir(parents=True, exist_ok=True)
    pieces = kept(model.vocabulary)
    (out / "vocabulary.txt").write_text("".join(model.vocabulary[i] + "\n" for i in pieces), encoding="utf-8")
    (out / "weights.bin").write_bytes(b"".join(weights(model, pieces)))
    texts = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    vectors = model.embed(texts)  # which sets the most pieces of a text
    golden = [
        {
            "text": text,
            "pieces": model.tokenizer.encode(text).tokens,
            "vector": [round(float(x), 4) for x in vector],
        }
        for text, vector in zip(texts, vectors)
    ]
    lines = ",\n".join(json.dumps(g, ensure_ascii=False, separators=(",", ":")) for g in golden)
    (out / "testdata" / "golden.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(pieces)} pieces, {(out / 'weights.bin').stat().st_size} bytes")


if __name__ == "__main__":
    main()
