"""Writes the weights that the server reads. Usage: python export.py CHECKPOINT OUT [--before]

With --before the server reads earlier goals beside a goal too.

The file, little-endian: the magic `PLUMBENC`, the SHA-256 of all that follows, the length of the header (uint32),
the header (JSON: the sizes of the network, the vocabulary, and the place of each tensor in the data), and the data
from the next multiple of 64 on. Matrices are rounded to int8: the word embeddings by row, the others by output.
The same checkpoint gives the same bytes.
"""

import hashlib
import json
import os
import re
import struct
import sys

import numpy as np
import torch

import network
from network import ERRAND, GOAL, LONGEST

MAGIC = b"PLUMBENC"
LONGEST_FILE = 29_900_000
# Outputs of a matrix that the kernel multiplies side by side; OUTPUTS in src/encoder/kernel.c.
OUTPUTS = 8


def rounded(matrix):
    """int8 [rows, columns] and the float32 scale of each row."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(matrix / scale[:, None]).clip(-127, 127).astype(np.int8), scale


def linear(layer):
    """A matrix as the kernel reads it: scales, sums of scaled bytes, biases, and tiles of bytes."""
    weight, bias = layer.weight.numpy(), layer.bias.numpy()
    outputs, inputs = weight.shape
    quantised, scale = rounded(weight)
    sums = quantised.astype(np.int64).sum(axis=1).astype(np.float32) * scale
    tiles = quantised.reshape(outputs // OUTPUTS, OUTPUTS, inputs // 4, 4).transpose(0, 2, 1, 3)
    return b"".join(part.astype("<f4").tobytes() for part in (scale, sums, bias)) + tiles.tobytes()


def floats(tensor):
    return tensor.numpy().astype("<f4").tobytes()


def vocabulary():
    path = os.path.join(network.pretrained_folder(), "vocab.txt")
    return open(path, encoding="utf-8").read().rstrip("\n").split("\n")


def kept_words(seen, spare):
    """The places of the vocabulary that the file holds, without about `spare` bytes of those that training did not
    see: first the unused ones, then whole words, the rarest first. Such a word is read as its pieces instead."""
    pieces = vocabulary()
    unused = [at for at, piece in enumerate(pieces) if piece.startswith("[unused")]
    rare = [at for at, piece in enumerate(pieces) if re.fullmatch(r"[a-z]{4,}", piece) and at not in seen]
    left_out = set()
    for at in [*unused, *reversed(rare)]:
        if spare <= 0:
            break
        left_out.add(at)
        spare -= network.WIDTH + 4 + len(pieces[at]) + 3
    return [at for at in range(len(pieces)) if at not in left_out]


def tensors(encoder, kept, effects):
    """Name and bytes of each tensor."""
    words, scales = rounded(encoder.words.weight.numpy()[kept])
    yield "words", words.tobytes()
    yield "wordScales", scales.astype("<f4").tobytes()
    for name in ("positions", "roles"):
        yield name, floats(getattr(encoder, name).weight)
    yield "norm", floats(encoder.norm.weight) + floats(encoder.norm.bias)
    for kind, layers in (("layers", encoder.layers), ("cross", encoder.cross)):
        for at, layer in enumerate(layers):
            for name in ("qkv", "out", "up", "down"):
                yield f"{kind}.{at}.{name}", linear(getattr(layer, name))
            for name in ("norm1", "norm2"):
                norm = getattr(layer, name)
                yield f"{kind}.{at}.{name}", floats(norm.weight) + floats(norm.bias)
    for name in ("hidden", "score", "near", *(["effect"] if effects else [])):
        layer = getattr(encoder, name)
        yield name, floats(layer.weight)
        yield f"{name}.bias", floats(layer.bias)


def file_of(encoder, kept, effects, before):
    data, places = bytearray(), {}
    pieces = vocabulary()
    for name, content in tensors(encoder, kept, effects):
        places[name] = len(data)
        data += content + bytes(-len(content) % 64)
    header = {
        "width": network.WIDTH,
        "layers": network.LAYERS,
        "branch": network.BRANCH,
        "heads": network.HEADS,
        "inner": network.INNER,
        "hidden": encoder.hidden.out_features,
        "crossBias": network.CROSS_BIAS,
        "errandTokens": LONGEST[ERRAND],
        "goalTokens": LONGEST[GOAL],
        "readsBefore": before,
        "vocabulary": [pieces[at] for at in kept],
        "places": places,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    start = len(MAGIC) + 32 + 4
    body = struct.pack("<I", len(text)) + text + bytes(-(start + len(text)) % 64) + bytes(data)
    return MAGIC + hashlib.sha256(body).digest() + body


def main():
    checkpoint, out, *options = sys.argv[1:]
    before = "--before" in options
    encoder = network.Encoder()
    saved = torch.load(checkpoint)
    encoder.load_state_dict(saved["weights"])
    encoder.eval().requires_grad_(False)
    assert len(vocabulary()) == encoder.words.num_embeddings
    whole = file_of(encoder, range(len(vocabulary())), saved["effects"], before)
    content = file_of(encoder, kept_words(set(saved["seen"]), len(whole) - LONGEST_FILE), saved["effects"], before)
    with open(out, "wb") as file:
        file.write(content)
    print(out, len(content), "bytes, version", content[len(MAGIC) :][:6].hex())


if __name__ == "__main__":
    main()
