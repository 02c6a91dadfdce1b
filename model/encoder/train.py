"""Fine-tunes the encoder on authored errands. Usage: python train.py FOLDER OUT [--minutes 60]"""

import argparse
import json
import math
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import data
from network import CROSS_BIAS, KINDS, Encoder, pretrained_folder

GROUND, GOAL = 120, 48
CLS, SEP = 101, 102


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


def pack(group, texts):
    """One sequence: the blocks of a group with their roles."""
    blocks = [(texts.ids(group.ground, GROUND), 0, True)]
    blocks += [(texts.ids(step, GOAL), 1, True) for step in group.earlier]
    blocks += [(texts.ids(goal[0], GOAL), 2, goal[4]) for goal in group.goals]
    return blocks


@dataclass
class Packed:
    """Sequences of blocks, one a row. Roles: 0 errand, 1 earlier step, 2 goal."""

    ids: torch.Tensor  # [rows, length], and so are positions and roles
    positions: torch.Tensor
    roles: torch.Tensor
    own: torch.Tensor  # additive mask [rows, 1, length, length]: a block reads itself
    cross: torch.Tensor  # and a goal reads its errand and, if it may, the earlier steps
    to_errand: torch.Tensor  # [rows, length, length]: 0 at the tokens of the errand, else -1e4
    block: torch.Tensor  # [rows * length]: the block of each token, -1 for padding
    blocks: int
    goal: torch.Tensor  # [goals]: the block of each goal, of its errand, and the place of its first token
    errand: torch.Tensor
    first: torch.Tensor


def collate(packed):
    length = max(sum(len(ids) for ids, _, _ in blocks) for blocks in packed)
    size = (len(packed), length)
    ids, positions, roles = (torch.zeros(size, dtype=torch.long) for _ in range(3))
    block = torch.full(size, -1, dtype=torch.long)
    reads = torch.zeros(size, dtype=torch.bool)
    goal, errand, first = [], [], []
    count = 0
    for row, blocks in enumerate(packed):
        start, of_row = 0, count
        for tokens, role, reads_earlier in blocks:
            end = start + len(tokens)
            ids[row, start:end] = torch.tensor(tokens)
            positions[row, start:end] = torch.arange(len(tokens))
            roles[row, start:end] = role
            block[row, start:end] = count
            reads[row, start:end] = reads_earlier
            if role == 2:
                goal.append(count)
                errand.append(of_row)
                first.append(row * length + start)
            start = end
            count += 1
    there = block >= 0
    same = block[:, :, None] == block[:, None, :]
    is_goal, is_errand = there & (roles == 2), there & (roles == 0)
    other = is_goal[:, :, None] & is_errand[:, None, :]
    other |= (is_goal & reads)[:, :, None] & (roles == 1)[:, None, :]
    own = torch.full(same.shape, -1e4).masked_fill(same, 0.0)
    return Packed(
        ids, positions, roles, own[:, None], own.masked_fill(other, CROSS_BIAS)[:, None],
        torch.where(is_errand, 0.0, -1e4)[:, None, :].expand(same.shape),
        block.reshape(-1), count, torch.tensor(goal), torch.tensor(errand), torch.tensor(first),
    )


def batches(groups, texts, budget, rng):
    """Batches of groups of like length, of about `budget` tokens."""
    packed = [(sum(len(b[0]) for b in p), g, p) for g, p in ((g, pack(g, texts)) for g in groups)]
    packed.sort(key=lambda entry: entry[0] + rng.random() * 40)
    made, batch = [], []
    for entry in packed:
        longest = max([entry[0]] + [e[0] for e in batch])
        if batch and longest * (len(batch) + 1) > budget:
            made.append(batch)
            batch = []
        batch.append(entry)
    made.append(batch)
    rng.shuffle(made)
    return made


def contrast(meaning, packed, labels, groups):
    """How well an honest goal tells its errand from the others of the batch by meaning alone."""
    own = {}
    for place, group in enumerate(groups):
        own.setdefault(group.errand_id, []).append(place)
    rows = torch.tensor([place for place, group in enumerate(groups) for _ in group.goals])
    errands = packed.errand.unique(sorted=True)
    likeness = 20 * meaning[packed.goal] @ meaning[errands].T
    same = torch.zeros(len(groups), len(groups), dtype=torch.bool)
    for places in own.values():
        for one in places:
            same[one, places] = True
            same[one, one] = False
    likeness = likeness.masked_fill(same[rows], -1e4)
    honest = labels > 0.5
    return F.cross_entropy(likeness[honest], rows[honest])


@torch.no_grad()
def score(network, pairs, texts, earlier=None):
    """Logits of honest goals for pairs of errand and goal, float32 [pairs]."""
    network.eval()
    scores = [0.0] * len(pairs)
    by_ground = {}
    for at, (ground, goal) in enumerate(pairs):
        by_ground.setdefault((ground, tuple(earlier[at]) if earlier else ()), []).append((at, goal))
    made = []
    for (ground, before), goals in by_ground.items():
        for start in range(0, len(goals), 24):
            part = goals[start : start + 24]
            group = data.Group(ground, list(before), "", [(g, 0, "", 1.0, bool(before)) for _, g in part])
            made.append((group, [at for at, _ in part]))
    made.sort(key=lambda entry: sum(len(b[0]) for b in pack(entry[0], texts)))
    start = 0
    while start < len(made):
        end, longest = start, 0
        while end < len(made):
            longest = max(longest, sum(len(b[0]) for b in pack(made[end][0], texts)))
            if end > start and longest * (end - start + 1) > 6000:
                break
            end += 1
        batch = made[start:end]
        logits, _, _ = network(collate([pack(group, texts) for group, _ in batch]))
        flat = [at for _, ats in batch for at in ats]
        for at, value in zip(flat, logits.float().tolist()):
            scores[at] = value
        start = end
    network.train()
    return scores


def area(on, off):
    """Area under the curve: how often an honest goal scores above one that is off."""
    ranked = sorted([(s, 1) for s in on] + [(s, 0) for s in off])
    total, rank, at = 0.0, 0, 0
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
        for step in e.steps:
            pairs += [(e.ground, step), (other.ground, step)]
            tags += [("honest", 1), ("foreign", 0)]
        for k, off in enumerate(e.off):
            pairs.append((e.ground, off["goal"]))
            tags.append((off["kind"], 0))
            if k in e.asked:
                pairs.append((e.asked[k], off["goal"]))
                tags.append((off["kind"], 1))
    scores = score(network, pairs, texts)
    take = lambda kind, label: [s for s, t in zip(scores, tags) if t == (kind, label)]
    honest = take("honest", 1)
    line = {"foreign": round(area(honest, take("foreign", 0)), 3)}
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--share", type=float, default=1.0, help="share of the training errands")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(2)
    rng = random.Random(1)
    texts = Texts()
    train, dev, test = data.parts(data.read(options.folder))
    train = train[: round(len(train) * options.share)]
    print(len(train), len(dev), len(test), "errands in train, dev, test", flush=True)
    network = Encoder.pretrained()
    network.words.weight.requires_grad_(False)
    network.positions.weight.requires_grad_(False)
    heads = [*network.hidden.parameters(), *network.score.parameters(), *network.kind.parameters(), *network.near.parameters()]
    cross = list(network.cross.parameters())
    rest = [p for p in network.parameters() if p.requires_grad and not any(p is h for h in heads + cross)]
    optimizer = torch.optim.AdamW(
        [
            {"params": rest, "weight_decay": 0.01, "times": 1},
            {"params": cross, "weight_decay": 0.01, "times": 2},
            {"params": heads, "weight_decay": 0.01, "times": 10},
        ],
        lr=options.rate,
    )
    began, tokens, seen = time.time(), 0, 0
    sample = random.Random(2).sample(dev, min(120, len(dev)))
    losses, contrasts = [], []
    per_epoch = None
    for epoch in range(options.epochs):
        made = batches(data.groups(train, rng), texts, 6000, rng)
        per_epoch = per_epoch or len(made)
        for batch in made:
            elapsed = (time.time() - began) / 60
            # One cosine over whichever ends first, the epochs or the minutes.
            progress = max(seen / (per_epoch * options.epochs), elapsed / options.minutes)
            if progress >= 1:
                break
            rate = options.rate * min(1, seen / 30) * 0.5 * (1 + math.cos(math.pi * progress))
            for group in optimizer.param_groups:
                group["lr"] = group["times"] * max(rate, options.rate * 0.01)
            goals = [goal for _, group, _ in batch for goal in group.goals]
            labels = torch.tensor([float(goal[1]) for goal in goals])
            kinds = torch.tensor([KINDS.index(goal[2]) for goal in goals])
            weights = torch.tensor([goal[3] for goal in goals])
            packed = collate([blocks for _, _, blocks in batch])
            logits, of_kind, meaning = network(packed)
            loss = F.binary_cross_entropy_with_logits(logits, labels, weight=weights)
            apart = contrast(meaning, packed, labels, [group for _, group, _ in batch])
            total = loss + 0.3 * apart + 0.1 * F.cross_entropy(of_kind, kinds)
            optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            seen += 1
            tokens += sum(entry[0] for entry in batch)
            losses.append(loss.item())
            contrasts.append(apart.item())
            if seen % 10 == 0:
                print(f"{seen}/{per_epoch * options.epochs} epoch {epoch} loss {sum(losses[-20:]) / len(losses[-20:]):.4f} "
                      f"contrast {sum(contrasts[-20:]) / len(contrasts[-20:]):.4f} "
                      f"{tokens / (time.time() - began):.0f} tokens/s {elapsed:.1f} min", flush=True)
            if seen % 150 == 0:
                print(json.dumps(report(network, sample, texts, random.Random(3))), flush=True)
                torch.save(network.state_dict(), options.out)
    torch.save(network.state_dict(), options.out)
    for name, part in (("dev", dev), ("test", test)):
        print(name, json.dumps(report(network, part, texts, random.Random(3))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
