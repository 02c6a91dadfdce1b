"""Weighs the encoder beside the words, for what messages of users do. Usage: python weigh.py FEATURES.jsonl MODEL.ts

FEATURES.jsonl is the output of data.ts, with messages that did not train the encoder among them: those that its training
keeps back, and all of files whose name begins with "runs". Prints what folds of them show, and writes the weights into
MODEL.ts, whose weights of words stay as they are.
"""

import base64
import hashlib
import json
import re
import sys

import numpy as np
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold

from train import DOUBT, EFFECTS, leanings, read, report

BIAS = re.compile(r"readBias: (\[.*?\])")
WEIGHT = re.compile(r"readWeight: (-?\d+)")


def is_kept_back(row):
    """As `read_messages` of encoder/data.py."""
    share = int(hashlib.sha256(row["text"].encode()).hexdigest()[:8], 16) % 100
    return share < 15 or row["file"].startswith("runs")


def fit(words, reads, effects):
    """The factor of the sums of the words, that of the encoder's log-odds, and a bias for each effect."""
    own = np.arange(len(effects))

    def loss(values):
        factor, weight, *bias = values
        logits = factor * words + weight * reads + np.array(bias)
        logits = logits - logits.max(axis=1, keepdims=True)
        return -(logits[own, effects] - np.log(np.exp(logits).sum(axis=1))).sum() + 0.5 * np.square(bias).sum()

    return minimize(loss, np.array([0.01, 0.5, 0, 0, 0, 0]), method="BFGS").x


def main():
    path, model = sys.argv[1:]
    rows, features, effects = read(path)
    source = open(model).read()
    bias = np.array(json.loads(re.search(r"\bbias: (\[.*?\])", source).group(1)), float)
    weights = np.frombuffer(base64.b64decode(re.search(r"weights:\s*'([^']+)'", source).group(1)), np.int8)
    words = features @ weights.reshape(-1, len(EFFECTS)).astype(float)
    at = np.flatnonzero([is_kept_back(row) for row in rows])
    words, effects = words[at], effects[at]
    reads = np.array([rows[each]["effects"] for each in at])
    requests = np.array([rows[each]["request"] for each in at])
    tables = np.array([EFFECTS.index(rows[each]["read"]) for each in at])
    report("the words alone", np.argmax(words + bias, axis=1), effects)
    report("the encoder alone", np.argmax(reads, axis=1), effects)
    logits = np.zeros(words.shape)
    for some, others in StratifiedKFold(5, shuffle=True, random_state=1).split(at, effects):
        factor, weight, *start = fit(words[some], reads[some], effects[some])
        logits[others] = factor * words[others] + weight * reads[others] + start
    lost = lambda guessed: np.mean((guessed[effects == 2] == 0) | (guessed[effects == 2] == 3))
    for more in (0, 0.3, 0.6, 1, 1.5, 2):
        guessed = np.argmax(logits + leanings(requests, tables, {**DOUBT, "adds": more}), axis=1)
        print(f"doubt {more}: {np.mean(guessed == effects):.3f} right, {lost(guessed):.3f} of the additions lost, "
              f"{np.mean(guessed[effects == 0] != 0):.3f} of the messages that ask for nothing move something")
    report("both, other folds", np.argmax(logits + leanings(requests, tables), axis=1), effects)
    factor, weight, *start = fit(words, reads, effects)
    print("factor", factor, "weight", weight, "bias", start)
    whole = [round(float(each)) for each in np.array(start) / factor]
    source = BIAS.sub(f"readBias: {json.dumps(whole)}", source)
    source = WEIGHT.sub(f"readWeight: {round(weight / factor)}", source)
    open(model, "w").write(source)


if __name__ == "__main__":
    main()
