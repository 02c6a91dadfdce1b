"""Reads the weights that the server reads back into the network, so that a training can go on from them."""

import json
import struct

import numpy as np
import torch

import network
from export import MAGIC, OUTPUTS, vocabulary


def restored(path):
    """The network of a file that `export.py` wrote. Words that the file leaves out, and the head for the kinds,
    are as before any training."""
    content = open(path, "rb").read()
    assert content[: len(MAGIC)] == MAGIC, f"{path} holds no weights"
    start = len(MAGIC) + 32 + 4
    (length,) = struct.unpack_from("<I", content, start - 4)
    header = json.loads(content[start : start + length])
    data = memoryview(content)[start + length + -(start + length) % 64 :]
    place = header["places"]

    def floats(name, *shape, at=0):
        count = int(np.prod(shape))
        return np.frombuffer(data, "<f4", count, place[name] + 4 * at).reshape(shape).copy()

    def linear(layer, name):
        outputs, inputs = layer.weight.shape
        scale, bias = floats(name, outputs), floats(name, outputs, at=2 * outputs)
        tiles = np.frombuffer(data, np.int8, outputs * inputs, place[name] + 12 * outputs)
        rows = tiles.reshape(outputs // OUTPUTS, inputs // 4, OUTPUTS, 4).transpose(0, 2, 1, 3).reshape(outputs, inputs)
        layer.weight.copy_(torch.from_numpy(rows * scale[:, None]))
        layer.bias.copy_(torch.from_numpy(bias))

    def norm(layer, name):
        both = torch.from_numpy(floats(name, 2, network.WIDTH))
        layer.weight.copy_(both[0])
        layer.bias.copy_(both[1])

    encoder = network.Encoder.pretrained()
    with torch.no_grad():
        kept = {piece: at for at, piece in enumerate(vocabulary())}
        rows = [kept[piece] for piece in header["vocabulary"]]
        words = np.frombuffer(data, np.int8, len(rows) * network.WIDTH, place["words"]).reshape(len(rows), -1)
        encoder.words.weight[rows] = torch.from_numpy(words * floats("wordScales", len(rows))[:, None])
        for name in ("positions", "roles"):
            table = getattr(encoder, name).weight
            table.copy_(torch.from_numpy(floats(name, *table.shape)))
        norm(encoder.norm, "norm")
        for kind, layers in (("layers", encoder.layers), ("cross", encoder.cross)):
            for at, layer in enumerate(layers):
                for name in ("qkv", "out", "up", "down"):
                    linear(getattr(layer, name), f"{kind}.{at}.{name}")
                for name in ("norm1", "norm2"):
                    norm(getattr(layer, name), f"{kind}.{at}.{name}")
        for name in ("hidden", "score", "near", "effect"):
            if name not in place:
                continue
            layer = getattr(encoder, name)
            layer.weight.copy_(torch.from_numpy(floats(name, *layer.weight.shape)))
            layer.bias.copy_(torch.from_numpy(floats(f"{name}.bias", *layer.bias.shape)))
    return encoder
