"""Learns what messages of users do. Usage: python train.py FEATURES.jsonl OUT.ts [FILE …]

FEATURES.jsonl is the output of data.ts. A logistic regression over hashed words, pairs and parts of words and the
reading of the word tables. Prints what folds that did not train it show, beside the tables alone; messages of the
FILEs named are held back and measured by the model that is written.
"""

import base64
import json
import sys

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

EFFECTS = ["none", "refines", "adds", "replaces"]
PLACES = 1 << 13  # userPlaces in user-features.ts
STRENGTH = 0.3
# Log-odds for `adds`: in doubt a message adds, since a request that is not heard is lost.
DOUBT = 0.6


def read(path):
    rows = [json.loads(line) for line in open(path)]
    ends, places = [0], []
    for row in rows:
        places += row["features"]
        ends.append(len(places))
    features = csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), PLACES))
    effects = np.array([EFFECTS.index(row["effect"]) for row in rows])
    return rows, features, effects


def learn(features, effects):
    """Whole numbers from -127 to 127 for each place and effect, and a whole number for each effect."""
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(features, effects)
    scale = 127 / np.abs(model.coef_).max()
    doubt = np.array([DOUBT if effect == "adds" else 0 for effect in EFFECTS])
    bias = (model.intercept_ + doubt) * scale
    return np.rint(model.coef_ * scale).astype(np.int8), np.rint(bias).astype(int), scale


def told(features, weights, bias):
    return np.argmax(features @ weights.T.astype(float) + bias, axis=1)


def report(name, read_as, effects):
    table = np.zeros((4, 4), int)
    for meant, got in zip(effects, read_as):
        table[meant, got] += 1
    print(f"{name}: {len(effects)} messages, {np.mean(read_as == effects):.3f} right")
    for effect, row in zip(EFFECTS, table):
        if row.sum():
            print(f"  {effect:9}{row.sum():5}  " + "  ".join(f"{share:.3f}" for share in row / row.sum()))


def main():
    path, out, *held_back = sys.argv[1:]
    rows, features, effects = read(path)
    files = np.array([row["file"] for row in rows])
    tables = np.array([EFFECTS.index(row["read"]) for row in rows])
    known = ~np.isin(files, held_back)
    guessed = np.zeros(len(rows), int)
    at = np.flatnonzero(known)
    for some, others in StratifiedKFold(5, shuffle=True, random_state=1).split(at, effects[at]):
        weights, bias, _ = learn(features[at[some]], effects[at[some]])
        guessed[at[others]] = told(features[at[others]], weights, bias)
    report("tables alone", tables[at], effects[at])
    report("other folds", guessed[at], effects[at])
    weights, bias, scale = learn(features[at], effects[at])
    print("one unit of log-odds is", round(scale, 2))
    for file in held_back:
        part = files == file
        report(f"{file}, tables alone", tables[part], effects[part])
        report(f"{file}", told(features[part], weights, bias), effects[part])
    text = base64.b64encode(weights.T.astype(np.int8).tobytes()).decode()
    with open(out, "w") as file:
        file.write("// Written by model/user-turns/train.py; do not edit.\n\n")
        file.write("/** What messages of users do: the weights of each place, in the order of `userEffects`, as int8. */\n")
        # weigh.py then weighs what the encoder reads.
        start = json.dumps([int(each) for each in bias])
        file.write(f"export const userModel = {{\n  bias: {start},\n  readBias: {start},\n  readWeight: 0,\n")
        file.write(f"  weights: '{text}',\n}}\n")
    print(len(text), "characters")


if __name__ == "__main__":
    main()
