"""Fine-tunes the encoder on authored errands. Usage: python train.py OUT FOLDER... [--minutes 90]"""

import argparse
import json
import math
import random
import sys
import time

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import data
from network import ERRAND, GOAL, KINDS, LONGEST, Encoder, Packed, pretrained_folder
from restore import restored

CLS, SEP = 101, 102
# Steps before that a goal is read beside in a report.
BESIDE = (0, 2, 4)


class Texts:
    """Token ids of texts, cached."""

    def __init__(self):
        self.tokenizer = Tokenizer.from_file(f"{pretrained_folder()}/tokenizer.json")
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.known = {}

    def ids(self, text, limit):
        key = (text, limit)
        if key not in self.known:
            ids = self.tokenizer.encode(text, add_special_tokens=False).ids
            if len(ids) > limit - 2:  # the beginning and the end of a long text
                ids = ids[: (limit - 2) * 2 // 3] + ids[-((limit - 2) - (limit - 2) * 2 // 3) :]
            self.known[key] = [CLS, *ids, SEP]
        return self.known[key]

    def pack(self, texts, pairs, rng=None):
        """texts: (text, is errand); pairs as in `Packed`. With `rng`, some tokens are left out, so that no text is
        learned by heart."""
        made = []
        for text, errand in texts:
            role = ERRAND if errand else GOAL
            ids = self.ids(text, LONGEST[role])
            if rng and len(ids) > 8 and rng.random() < 0.6:
                ids = [CLS, *(each for each in ids[1:-1] if rng.random() > 0.1), SEP]
            made.append((ids, role))
        return Packed(made, pairs)


def contrast(meaning, batch):
    """How well an honest goal tells its errand from those that were written for others, by meaning alone."""
    errands = torch.tensor([at for at, (_, errand) in enumerate(batch.texts) if errand and batch.groups[at] is not None])
    group = torch.tensor([-1 if each is None else each for each in batch.groups])
    honest = torch.tensor([(pair.goal, pair.errand) for pair in batch.pairs if pair.label and not pair.before])
    likeness = 20 * meaning[honest[:, 0]] @ meaning[errands].T
    own = errands[None, :] == honest[:, 1:]
    same = group[errands][None, :] == group[honest[:, 0]][:, None]
    return F.cross_entropy(likeness.masked_fill(same & ~own, -1e4), own.float().argmax(1))


def follow(meaning, runs, rng):
    """How well a step tells the run that it belongs to among those of the batch, by likeness to a few steps beside
    it in its own run, and to as many of each other one."""
    losses = []
    runs = [steps for steps in runs if len(steps) > 4]
    for count in (1, 2, 4):
        centres = torch.stack([meaning[steps[(at := rng.randrange(len(steps) - count + 1)) : at + count]].mean(0) for steps in runs])
        for own, steps in enumerate(runs):
            at = list(range(len(steps)))
            near = [[steps[j] for j in (at[i - count : i] if i >= count else [*at[:i], *at[i + 1 :]][:count])] for i in at]
            mine = meaning[torch.tensor(near)].mean(1)
            goals = meaning[torch.tensor(steps)]
            likeness = goals @ F.normalize(centres, dim=-1).T
            beside = (goals * F.normalize(mine, dim=-1)).sum(-1)
            keep = torch.arange(len(runs)) == own
            likeness = torch.where(keep[None, :], beside[:, None], likeness)
            losses.append(F.cross_entropy(20 * likeness, torch.full((len(steps),), own)))
    return torch.stack(losses).mean()


@torch.no_grad()
def score(network, pairs, texts):
    """For triples of errand, goal and the goals before: logits that the goal is honest, and how alike the meanings of
    goal and errand are, two lists of floats."""
    network.eval()
    scores, alike = [], []
    for start in range(0, len(pairs), 600):
        known, chosen, asked = {}, [], []
        place = lambda text, errand: known.setdefault((text, errand), len(known))
        for ground, goal, before in pairs[start : start + 600]:
            alone = range(len(chosen), len(chosen) + len(before))
            chosen += [(place(step, False), place(ground, True), ()) for step in before]
            chosen.append((place(goal, False), place(ground, True), tuple(alone)))
            asked.append(len(chosen) - 1)
        logits, *_, meaning = network(texts.pack(list(known), chosen))
        goals, errands = (meaning[[chosen[at][which] for at in asked]] for which in (0, 1))
        scores += logits.float()[asked].tolist()
        alike += (goals * errands).sum(-1).tolist()
    network.train()
    return scores, alike


def area(on, off):
    """Area under the curve: how often an honest goal scores above one that is off."""
    ranked = sorted([(s, 1) for s in on] + [(s, 0) for s in off])
    total, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        total += sum(label for _, label in ranked[at:end]) * (at + end + 1) / 2
        at = end
    return (total - len(on) * (len(on) + 1) / 2) / (len(on) * len(off))


def report(network, errands, texts, rng):
    """Areas with each goal on both sides, and of goals under the errand."""
    pairs, tags = [], []
    by_file = {}
    for e in errands:
        by_file.setdefault(e.file, []).append(e)
    for e in errands:
        other = rng.choice([o for o in by_file[e.file] if o.id != e.id])
        english = e.lang == other.lang == "en"
        for at, step in enumerate(e.steps):
            pairs += [(e.ground, step, ()), (other.ground, step, ())]
            tags += [("honest", 1), ("foreign", 0)] if english else [("honest elsewhere", 1), ("foreign elsewhere", 0)]
            if english and at > 3:
                for count in BESIDE:
                    pairs.append((e.ground, step, e.steps[at - count : at]))
                    pairs.append((other.ground, step, other.steps[at - count : at]))
                    tags += [(f"after {count}", 1), (f"after {count}", 0)]
        for k, off in enumerate(e.off):
            pairs += [(e.ground, off["goal"], ()), (other.ground, off["goal"], ())]
            tags += [(off["kind"], 0), ("style", 0) if english else ("style elsewhere", 0)]
            if k in e.asked:
                pairs.append((e.asked[k], off["goal"], ()))
                tags.append((off["kind"], 1))
    scores, alike = score(network, pairs, texts)
    take = lambda kind, label, given=scores: [s for s, t in zip(given, tags) if t == (kind, label)]
    honest = take("honest", 1)
    line = {
        "foreign": round(area(honest, take("foreign", 0)), 3),
        "foreign by meanings alone": round(area(take("honest", 1, alike), take("foreign", 0, alike)), 3),
    }
    line["style"] = round(area(take("foreign", 0), take("style", 0)), 3)
    # The steps from the fifth on, beside none, two and four of those before.
    for count in BESIDE:
        after, left = take(f"after {count}", 1), take(f"after {count}", 0)
        found = sum(s < sorted(after)[len(after) // 100] for s in left) / len(left)
        line[f"after {count}"] = (round(area(after, left), 3), round(found, 3))
    kinds = [k for k in KINDS if k not in ("honest", "foreign")]
    both_on, both_off = [], []
    for kind in kinds:
        on, off = take(kind, 1), take(kind, 0)
        if not on or not off:
            continue
        both_on += on
        both_off += off
        line[kind] = (round(area(on, off), 3), round(area(honest, off), 3))
    line["kinds both sides"] = round(area(both_on, both_off), 3)
    line["kinds under errand"] = round(area(honest, both_off), 3)
    ranked = sorted(honest)
    for share in (0.01, 0.05):
        limit = ranked[int(share * len(ranked))]
        off = take("foreign", 0)
        line[f"foreign at {share}"] = round(sum(s < limit for s in off) / len(off), 3)
        line[f"kinds at {share}"] = round(sum(s < limit for s in both_off) / len(both_off), 3)
    return line


def tail(logits, labels, weights):
    """How far goals that are off score above the tenth of the honest ones that score lowest: few honest steps may lie
    below the limit of the server."""
    honest, off = logits[labels == 1], logits[(labels == 0) & (weights > 0)]
    lowest = honest.topk(max(1, len(honest) // 10), largest=False).values
    return F.softplus(off[:, None] - lowest[None, :]).mean()


def losses(network, batch, texts, rank, rng, tail_share=0.0):
    """The parts of the loss of a batch."""
    chosen = [(pair.goal, pair.errand, pair.before) for pair in batch.pairs]
    messages = [(text, standing, ()) for text, standing, _ in batch.messages]
    logits, of_kind, effects, meaning = network(texts.pack(batch.texts, [*chosen, *messages], rng))
    logits, of_kind, effects = logits[: len(chosen)], of_kind[: len(chosen)], effects[len(chosen) :]
    labels = torch.tensor([float(pair.label) for pair in batch.pairs])
    kinds = torch.tensor([KINDS.index(pair.kind) for pair in batch.pairs])
    weights = torch.tensor([pair.weight for pair in batch.pairs])
    both = torch.tensor(batch.both)
    return {
        "loss": F.binary_cross_entropy_with_logits(logits, labels, weight=weights),
        "rank": rank * F.softplus(logits[both[:, 1]] - logits[both[:, 0]]).mean(),
        "tail": tail_share * tail(logits, labels, weights),
        "contrast": 0.3 * contrast(meaning, batch),
        "follow": 0.3 * follow(meaning, batch.runs, rng),
        "effect": 0.5 * F.cross_entropy(effects, torch.tensor([effect for *_, effect in batch.messages])) if messages else torch.zeros(()),
        "kind": 0.1 * F.cross_entropy(of_kind, kinds),
    }


def save(network, errands, texts, effects, path):
    """Saves the weights, which tokens of the vocabulary the errands hold, and whether the head for messages learned."""
    seen = set()
    for errand in errands:
        for text in (errand.ground, *errand.steps, *(off["goal"] for off in errand.off), *errand.asked.values()):
            seen.update(texts.ids(text, LONGEST[ERRAND]))
    torch.save({"weights": network.state_dict(), "seen": sorted(seen), "effects": effects}, path)


def begun(weights):
    """The network that a training begins with."""
    if weights is None:
        return Encoder.pretrained()
    if weights.endswith(".bin"):
        return restored(weights)
    network = Encoder()
    network.load_state_dict(torch.load(weights)["weights"], strict=False)
    return network


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--branch-times", type=float, default=3)
    parser.add_argument("--rank", type=float, default=0.3)
    parser.add_argument("--take", type=int, default=0, help="errands an epoch takes, those that were seen least; 0: all")
    parser.add_argument("--alone", action="store_true", help="no goal is read beside earlier ones")
    parser.add_argument("--tail", type=float, default=0.0, help="how much the honest goals that score lowest count")
    parser.add_argument("--size", type=int, default=14, help="errands a batch")
    parser.add_argument("--share", type=float, default=1.0, help="share of the training errands")
    parser.add_argument("--known", type=float, default=1.0, help="share of the first folder that an epoch takes")
    parser.add_argument("--from", dest="weights", help="weights.bin or checkpoint to go on from, not the pretrained ones")
    parser.add_argument("--messages", help="folder of messages of users")
    parser.add_argument("--every", type=int, default=150, help="batches between two reports")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(2)
    rng = random.Random(1)
    texts = Texts()
    train, dev, test = data.parts(data.read(*options.folders))
    cut = lambda errands: errands[: round(len(errands) * options.share)]
    train = cut(train)
    print(len(train), len(dev), len(test), "errands in train, dev, test", flush=True)
    network = begun(options.weights)
    network.words.weight.requires_grad_(False)
    network.positions.weight.requires_grad_(False)
    heads = [*network.hidden.parameters(), *network.score.parameters(), *network.kind.parameters(), *network.near.parameters(), *network.effect.parameters()]
    cross = list(network.cross.parameters())
    rest = [p for p in network.parameters() if p.requires_grad and not any(p is h for h in heads + cross)]
    optimizer = torch.optim.AdamW(
        [
            {"params": rest, "weight_decay": 0.01, "times": 1},
            {"params": cross, "weight_decay": 0.01, "times": options.branch_times},
            {"params": heads, "weight_decay": 0.01, "times": 10},
        ],
        lr=options.rate,
        fused=True,
    )
    began, seen = time.time(), 0
    sample = random.Random(2).sample(dev, min(120, len(dev)))
    recent = []
    per_epoch, times = None, {}
    for epoch in range(options.epochs):
        if time.time() - began >= 60 * options.minutes:
            break
        if epoch > 0:  # files may have grown meanwhile
            train = cut(data.parts(data.read(*options.folders))[0])
        known = {errand.id for errand in data.read(options.folders[0])}
        taken = [errand for errand in train if errand.id not in known or rng.random() < options.known]
        if options.take:
            rng.shuffle(taken)
            taken = sorted(taken, key=lambda errand: times.get(errand.id, 0))[: options.take]
            for errand in taken:
                times[errand.id] = times.get(errand.id, 0) + 1
            print(len(taken), "taken", sum(times[e.id] == 1 for e in taken), "for the first time", flush=True)
        made = data.batches(taken, options.size, rng, not options.alone)
        messages = data.read_messages(options.messages) if options.messages else []
        per_epoch = per_epoch or len(made)
        for batch in made:
            batch.add_messages(rng.sample(messages, min(options.size * 2, len(messages))))
            elapsed = (time.time() - began) / 60
            # One cosine over whichever ends first, the epochs or the minutes.
            progress = max(seen / (per_epoch * options.epochs), elapsed / options.minutes)
            if progress >= 1:
                break
            rate = options.rate * min(1, seen / 30) * 0.5 * (1 + math.cos(math.pi * progress))
            for group in optimizer.param_groups:
                group["lr"] = group["times"] * max(rate, options.rate * 0.01)
            parts = losses(network, batch, texts, options.rank, rng, options.tail)
            optimizer.zero_grad()
            sum(parts.values()).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            seen += 1
            recent.append({name: part.item() for name, part in parts.items()})
            if seen % 10 == 0:
                means = {name: round(sum(r[name] for r in recent[-20:]) / len(recent[-20:]), 4) for name in recent[-1]}
                print(f"{seen}/{per_epoch * options.epochs} epoch {epoch} {means} {elapsed:.1f} min", flush=True)
            if seen % options.every == 0:
                save(network, train, texts, options.messages is not None, options.out)
                print(json.dumps(report(network, sample, texts, random.Random(3))), flush=True)
    save(network, train, texts, options.messages is not None, options.out)
    for name, part in (("dev", dev), ("test", test)):
        print(name, json.dumps(report(network, part, texts, random.Random(3))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
