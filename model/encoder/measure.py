"""Measures weights on the errands that the training keeps back. Usage: python measure.py FOLDER WEIGHTS… [--whole]

WEIGHTS are checkpoints of train.py, or files that export.py wrote, whose weights are whole numbers. Prints a line for
each. "By meanings alone" compares two texts that are read apart, as a bi-encoder does. With `--whole`, the states that
the matrices multiply are rounded as the kernel of the server rounds them, too.
"""

import json
import random
import sys

import torch
from torch import nn

import data
from train import Texts, begun, report

STEPS = 127  # of round_rows in kernel.c


class Rounding(nn.Module):
    """A layer whose input is rounded, row by row, to whole steps between its least and its greatest number."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        x = x.float()
        least = x.min(-1, keepdim=True).values
        step = ((x.max(-1, keepdim=True).values - least) / STEPS).clamp(min=1e-12)
        return self.layer(torch.round((x - least) / step) * step + least)


def rounded(encoder):
    for layer in [*encoder.layers, *encoder.cross]:
        for name in ("qkv", "out", "up", "down"):
            setattr(layer, name, Rounding(getattr(layer, name)))
    return encoder


def main():
    whole = "--whole" in sys.argv
    folder, *paths = [each for each in sys.argv[1:] if each != "--whole"]
    _, kept_back, _ = data.parts(data.read(folder))
    texts = Texts()
    for path in paths:
        encoder = rounded(begun(path)) if whole else begun(path)
        print(path, json.dumps(report(encoder, kept_back, texts, random.Random(3))), flush=True)


if __name__ == "__main__":
    main()
