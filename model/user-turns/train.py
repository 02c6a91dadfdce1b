"""Learns what messages of users do. Usage: python train.py FEATURES.jsonl OUT.ts [FILE …] [--from MODEL.ts]

FEATURES.jsonl is the output of data.ts. A logistic regression over what the word tables see, and in English over hashed
words, pairs and parts of words. Prints what folds that did not train it show, beside the tables alone; messages of the
FILEs named are held back and measured by the model that is written. With `--from`, the weights move away from those of
a model that was written before, as far as the new messages ask for it.
"""

import argparse
import base64
import json
import re

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

EFFECTS = ["none", "refines", "adds", "replaces"]
WORDS = 1 << 13  # wordPlaces in features.ts
PLACES = WORDS + (1 << 11)  # userPlaces in features.ts
STRENGTH = 0.3
# How strongly the weights of an earlier model hold: the inverse of the variance of what is added to them, in log-odds,
# of words and of what the tables see.
HOLD = np.r_[np.full(WORDS, 12.0), np.full(PLACES - WORDS, 6.0)]
# Log-odds: in doubt a message with a request in it adds, since a request that is not heard is lost, and one that is
# replaced too.
DOUBT = {"adds": 1.6, "replaces": -0.5}
# Log-odds of replacing where the word tables see no withdrawal: a request that is wrongly withdrawn is lost whole.
UNSEEN = -1.5
# Log-odds of asking for nothing: two in three messages of runs do, and two in five of those that were written one by one.
USUAL = 0.9


def read(path):
    rows = [json.loads(line) for line in open(path)]
    ends, places = [0], []
    for row in rows:
        places += row["features"]
        ends.append(len(places))
    features = csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), PLACES))
    effects = np.array([EFFECTS.index(row["effect"]) for row in rows])
    return rows, features, effects


def learn(features, effects, begun=None):
    """Whole numbers from -127 to 127 for each place and effect, and a whole number for each effect."""
    if begun is None:
        model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(features, effects)
        coefficients, intercept = model.coef_, model.intercept_
    else:
        coefficients, intercept = moved(features, effects, *begun[:2])
    scale = 127 / np.abs(coefficients).max()
    intercept = intercept + USUAL * (np.arange(len(EFFECTS)) == EFFECTS.index("none"))
    return np.rint(coefficients * scale).astype(np.int8), np.rint(intercept * scale).astype(int), scale


def in_doubt(doubt):
    """What is added to the log-odds of each effect where a message has a request in it."""
    return np.array([doubt.get(effect, 0) for effect in EFFECTS])


def leanings(requests, tables, doubt=None):
    """What is added to the log-odds of each effect of each message, by what the word tables see in it."""
    unseen = (np.array(tables) != EFFECTS.index("replaces")) * UNSEEN
    return np.outer(requests, in_doubt(doubt or DOUBT)) + np.outer(unseen, np.arange(len(EFFECTS)) == 3)


def written(path):
    """The weights [effects, places] and the bias of a model that was written before, and the weight of the encoder, in
    log-odds."""
    source = open(path).read()
    field = lambda pattern: re.search(pattern, source).group(1)
    scale = float(field(r"unit: ([\d.]+)"))
    weights = np.frombuffer(base64.b64decode(field(r"weights:\s*'([^']+)'")), np.int8).reshape(-1, len(EFFECTS))
    bias = np.array(json.loads(field(r"\bbias: (\[.*?\])")), float)
    usual = re.search(r"usual: (-?\d+)", source)
    bias[EFFECTS.index("none")] -= int(usual.group(1)) if usual else 0
    return weights.T / scale, bias / scale, float(field(r"readWeight: (\d+)")) / scale


def moved(features, effects, weights, bias):
    """The weights and the bias that fit the messages, held near those given."""
    count = features.shape[1] * len(EFFECTS)
    start, meant = features @ weights.T + bias, np.eye(len(EFFECTS))[effects]

    def loss(values):
        added, more = values[:count].reshape(-1, len(EFFECTS)), values[count:]
        logits = start + features @ added + more
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = odds / odds.sum(axis=1, keepdims=True)
        off = shares - meant
        total = -np.log((shares * meant).sum(axis=1)).sum() + (HOLD[:, None] * added * added).sum() / 2 + np.square(more).sum() / 2
        return total, np.r_[(features.T @ off + HOLD[:, None] * added).ravel(), off.sum(axis=0) + more]

    found = minimize(loss, np.zeros(count + len(EFFECTS)), jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    return weights + found[:count].reshape(-1, len(EFFECTS)).T, bias + found[count:]


def told(features, requests, tables, weights, bias, scale):
    added = np.rint(leanings(requests, tables) * scale)
    return np.argmax(features @ weights.T.astype(float) + bias + added, axis=1)


def report(name, read_as, effects):
    table = np.zeros((4, 4), int)
    for meant, got in zip(effects, read_as):
        table[meant, got] += 1
    print(f"{name}: {len(effects)} messages, {np.mean(read_as == effects):.3f} right")
    for effect, row in zip(EFFECTS, table):
        if row.sum():
            print(f"  {effect:9}{row.sum():5}  " + "  ".join(f"{share:.3f}" for share in row / row.sum()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features")
    parser.add_argument("out")
    parser.add_argument("held_back", nargs="*", help="files that are only measured")
    parser.add_argument("--from", dest="begun", help="a model to go on from")
    options = parser.parse_args()
    held_back = options.held_back
    rows, features, effects = read(options.features)
    begun = written(options.begun) if options.begun else None
    files = np.array([row["file"] for row in rows])
    tables = np.array([EFFECTS.index(row["read"]) for row in rows])
    requests = np.array([row["request"] for row in rows])
    known = ~np.isin(files, held_back)
    guessed = np.zeros(len(rows), int)
    at = np.flatnonzero(known)
    for some, others in StratifiedKFold(5, shuffle=True, random_state=1).split(at, effects[at]):
        model = learn(features[at[some]], effects[at[some]], begun)
        guessed[at[others]] = told(features[at[others]], requests[at[others]], tables[at[others]], *model)
    report("tables alone", tables[at], effects[at])
    report("other folds", guessed[at], effects[at])
    weights, bias, scale = learn(features[at], effects[at], begun)
    for file in held_back:
        part = files == file
        report(f"{file}, tables alone", tables[part], effects[part])
        report(f"{file}", told(features[part], requests[part], tables[part], weights, bias, scale), effects[part])
    text = base64.b64encode(weights.T.astype(np.int8).tobytes()).decode()
    with open(options.out, "w") as file:
        file.write("// Written by model/user-turns/train.py; do not edit.\n\n")
        file.write("/** What messages of users do: the weights of each place, in the order of `userEffects`, as int8. */\n")
        # weigh.py then weighs what the encoder reads.
        start = json.dumps([int(each) for each in bias])
        file.write(f"export const userModel = {{\n  /** One unit of log-odds. */\n  unit: {scale:.2f},\n")
        of_encoder = round(begun[2] * scale) if begun else 0
        doubt = json.dumps([round(each * scale) for each in in_doubt(DOUBT).tolist()])
        file.write(f"  bias: {start},\n  readBias: {start},\n  readWeight: {of_encoder},\n")
        file.write(f"  /** Added where a message has a request in it. */\n  doubt: {doubt},\n")
        file.write("  /** Added to replacing where the word tables see no withdrawal. */\n")
        file.write(f"  unseen: {round(UNSEEN * scale)},\n")
        file.write(f"  /** What the biases hold of asking for nothing. */\n  usual: {round(USUAL * scale)},\n")
        file.write(f"  weights: '{text}',\n}}\n")
    print(len(text), "characters")


if __name__ == "__main__":
    main()
