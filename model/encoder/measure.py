"""Measures weights on the errands that the training keeps back. Usage: python measure.py FOLDER WEIGHTS…

WEIGHTS are checkpoints of train.py, or files that export.py wrote, whose weights are whole numbers. Prints a line for
each. "By meanings alone" compares two texts that are read apart, as a bi-encoder does.
"""

import json
import random
import sys

import data
from train import Texts, begun, report


def main():
    folder, *paths = sys.argv[1:]
    _, kept_back, _ = data.parts(data.read(folder))
    texts = Texts()
    for path in paths:
        print(path, json.dumps(report(begun(path), kept_back, texts, random.Random(3))), flush=True)


if __name__ == "__main__":
    main()
