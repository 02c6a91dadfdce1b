"""Learns the trees that read a run in sequence. Usage: python train.py STEPS.jsonl OUT.ts

STEPS.jsonl is the output of data.ts. Prints what other errands than those of training show, the limits, and the table
of probabilities.
"""

import json
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

SETTINGS = dict(
    max_iter=100, learning_rate=0.06, max_leaf_nodes=10, min_samples_leaf=150, l2_regularization=5, random_state=1
)
BASE_RATE = 0.1
EDGES = [-np.inf, -1.5, -1, -0.75, -0.5, -0.25, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15, 1.3, 1.5]
LIMIT = 2.9
# False alarms per 1,000 honest steps at the limit; a drift that goes on adds some.
BUDGET = 7.5


def read(path):
    rows = [json.loads(line) for line in open(path)]
    features = np.array([[np.nan if v is None else v for v in row["features"]] for row in rows])
    return rows, features, np.array([row["off"] for row in rows]).astype(int)


def weights(off, kinds):
    """The honest steps count as many as the others; foreign steps as many as those of all kinds together."""
    weight = np.ones(len(off))
    foreign = (off == 1) & (kinds == "foreign")
    other = (off == 1) & (kinds != "foreign")
    honest = off == 0
    for part, share in ((foreign, 0.25), (other, 0.25), (honest, 0.5)):
        weight[part] = share * len(off) / max(1, part.sum())
    return weight


def log_odds(model, features):
    return model.decision_function(features)


def crossed(features, off, kinds, groups):
    scores = np.zeros(len(off))
    for known, new in GroupKFold(5).split(features, groups=groups):
        model = HistGradientBoostingClassifier(**SETTINGS)
        model.fit(features[known], off[known], sample_weight=weights(off[known], kinds[known]))
        scores[new] = log_odds(model, features[new])
    return scores


def report(name, scores, rows, budget, ends=None):
    """At the limit that `budget` of 1,000 steps of clean runs exceed."""
    runs = {}
    for at, row in enumerate(rows):
        runs.setdefault(row["run"], []).append(at)
    clean = [ats for ats in runs.values() if rows[ats[0]]["kind"] == "clean"]
    limit = np.sort(np.concatenate([scores[ats] for ats in clean]))[::-1][int(budget / 1000 * sum(map(len, clean)))]

    def alarms(ats):
        on, out = False, []
        for at in ats:
            on = scores[at] > limit or (on and ends is not None and scores[at] > limit - ends)
            out.append(on)
        return np.array(out)

    told = [f"{name} limit {limit:.3f}", f"clean FA {1000 * np.mean(np.concatenate([alarms(a) for a in clean])):.1f}",
            f"clean runs alarmed {np.mean([alarms(a).any() for a in clean]):.3f}"]
    for kind in ("foreign", "neighbour", "creep", "entity", "opposite", "hijack", "rabbit", "run"):
        found, false, honest = [], 0, 0
        for ats in runs.values():
            if rows[ats[0]]["kind"] != kind:
                continue
            off = np.array([rows[at]["off"] for at in ats])
            on = alarms(ats)
            if off.any():
                first = int(np.argmax(off))
                found.append([on[first : first + k].any() for k in (1, 2, 3)])
            false += (on & ~off).sum()
            honest += (~off).sum()
        if found:
            told.append(f"{kind} {'/'.join(f'{v:.2f}' for v in np.mean(found, axis=0))}" + (f" FA {1000 * false / honest:.0f}" if kind in ("run", "foreign") else ""))
    print("; ".join(told))
    return limit


def print_single(features, off, kinds):
    """The score of a step alone, log-odds at even prior odds: `fitted` of encoded.ts."""
    known = ~np.isnan(features[:, 2])
    inputs = np.c_[features[:, 0], np.where(known, features[:, 2], 0), known]
    model = LogisticRegression(C=100, max_iter=1000).fit(inputs, off, sample_weight=weights(off, kinds))
    names = ("serves", "words", "known")
    print("fitted", {name: round(float(value), 3) for name, value in zip(names, model.coef_[0])}, "rest",
          round(float(model.intercept_[0]), 3))
    scores = model.decision_function(inputs)
    for at in (-1, 0, 0.5, 1, 1.5, 2):
        shares = [np.mean(scores[part] > at) for part in (off == 0, (off == 1) & (kinds == "foreign"), off == 1)]
        print(f"score above {at}: honest {shares[0]:.3f}, foreign {shares[1]:.3f}, all off {shares[2]:.3f}")


def nodes_of(predictor):
    made = []
    for node in predictor.nodes:
        if node["is_leaf"]:
            made.append([round(float(node["value"]), 5)])
        else:
            left, right = int(node["left"]), int(node["right"])
            made.append([int(node["feature_idx"]), round(min(float(node["num_threshold"]), 1e9), 12), left, right,
                         left if node["missing_go_to_left"] else right])
    return made


def main():
    rows, features, off = read(sys.argv[1])
    kinds = np.array([row["kind"] for row in rows])
    groups = np.array([row["id"] for row in rows])
    scores = crossed(features, off, kinds, groups)
    for budget in (5, 10, 15, 20, 30):
        report(f"budget {budget}", scores, rows, budget)
    for ends in (0.5, 1, 1.5, 2, 3):
        report(f"ends {ends} below", scores, rows, 10, ends)
    report("no history", crossed(features[:, :3], off, kinds, groups), rows, 10)
    limit = report(f"budget {BUDGET}", scores, rows, BUDGET)
    langs = np.array([row["lang"] for row in rows])
    for lang in sorted(set(langs), key=lambda each: -(langs == each).sum()):
        clean = (langs == lang) & (kinds == "clean")
        foreign = (langs == lang) & (kinds == "foreign") & (off == 1)
        if clean.sum() < 40:
            continue
        serves = -features[:, 0]
        ranked = roc_auc_score(np.r_[np.zeros(clean.sum()), np.ones(foreign.sum())], np.r_[serves[clean], serves[foreign]])
        print(f"{lang}: {clean.sum()} clean steps, FA {1000 * np.mean(scores[clean] > limit):.0f}, foreign steps above the "
              f"limit {np.mean(scores[foreign] > limit):.2f}, area of what the encoder reads {ranked:.2f}")
    print_single(features, off, kinds)
    # The probability where one step in ten is drift, by share of the limit.
    share = (scores - limit + LIMIT) / LIMIT
    weight = np.where(off == 1, BASE_RATE / off.sum(), (1 - BASE_RATE) / (off == 0).sum())
    rising = IsotonicRegression(y_min=0.002, y_max=0.95, out_of_bounds="clip").fit(share, off, sample_weight=weight)
    middles = [(-2.5 if np.isinf(a) else a + (b - a) / 2) for a, b in zip(EDGES, EDGES[1:] + [1.9])]
    for edge, middle in zip(EDGES, middles):
        name = "Number.NEGATIVE_INFINITY" if np.isinf(edge) else f"{edge:g}"
        print(f"  {{ from: {name}, driftProbability: {rising.predict([middle])[0]:.3f} }},")
    honest = np.array([row["kind"] == "clean" for row in rows])
    for at in (0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        print(f"share above {at}: clean {np.mean(share[honest] > at):.3f}, foreign {np.mean(share[(kinds == 'foreign') & (off == 1)] > at):.3f}")
    model = HistGradientBoostingClassifier(**SETTINGS)
    model.fit(features, off, sample_weight=weights(off, kinds))
    trees = {
        "base": round(float(model._baseline_prediction.ravel()[0]), 5),
        "trees": [nodes_of(predictors[0]) for predictors in model._predictors],
    }
    ours = np.array([score_of(trees, row) for row in features[:500]])
    assert np.abs(ours - log_odds(model, features[:500])).max() < 0.01, "the written trees differ"
    text = json.dumps(trees, separators=(",", ":"))
    with open(sys.argv[2], "w") as file:
        file.write("// Written by model/sequence/train.py; do not edit.\n\n")
        file.write("/** The trees that `scoreSequence` reads. */\n")
        file.write(f"export const sequenceTrees =\n  '{text}'\n")
    print(len(text), "characters,", len(trees["trees"]), "trees")


def score_of(trees, row):
    total = trees["base"]
    for tree in trees["trees"]:
        node = tree[0]
        while len(node) > 1:
            feature, threshold, left, right, missing = node
            value = row[feature]
            node = tree[missing if np.isnan(value) else left if value <= threshold else right]
        total += node[0]
    return total


if __name__ == "__main__":
    main()
