"""The authored errands as groups: an errand, earlier steps, and goals with labels."""

import glob
import hashlib
import json
import os
import random
import re
from dataclasses import dataclass, field

HELD_OUT = ("code2", "desk2")


@dataclass
class Errand:
    id: str
    file: str
    ground: str
    steps: list
    off: list
    asked: dict
    lang: str
    domain: str
    plan: list


@dataclass
class Group:
    ground: str
    earlier: list
    errand_id: str = ""
    goals: list = field(default_factory=list)  # (text, label, kind, weight, reads earlier steps)


def read(folder):
    """All errands of a folder, in the order of files and lines."""
    errands = []
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        name = os.path.basename(path)[: -len(".jsonl")]
        if name.startswith("asked-") or name.startswith("runs"):
            continue
        asked = {}
        counter = os.path.join(folder, f"asked-{name}.jsonl")
        if os.path.exists(counter):
            for line in open(counter, encoding="utf-8"):
                row = json.loads(line)
                asked.setdefault(row["id"], {})[row["k"]] = row["asked"]
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            errands.append(
                Errand(row["id"], name, row["ground"], row["steps"], row["off"], asked.get(row["id"], {}),
                       row.get("lang", "en"), row.get("domain", ""), row.get("plan") or [])
            )
    return errands


def place(errand):
    """0-99, fixed by the id of an errand."""
    return int(hashlib.sha256(errand.id.encode()).hexdigest()[:8], 16) % 100


def parts(errands):
    """train (80 % of the errands outside the held-out files), dev (20 %), test (the held-out files)."""
    outside = [e for e in errands if e.file not in HELD_OUT]
    return (
        [e for e in outside if place(e) >= 20],
        [e for e in outside if place(e) < 20],
        [e for e in errands if e.file in HELD_OUT],
    )


GREETINGS = ["Hi! ", "Hello, ", "hey ", "Hi there, could you please ", "Good morning! I hope you are well. ",
             "Hi, can you help me with something? ", "pls ", "Could you "]
ENDINGS = [" Thanks!", " thank you so much", " Thanks a lot, let me know when you're done!", " cheers", " :)",
           " Many thanks in advance."]
NARRATION = ["Now let me ", "Let me ", "I'll ", "Next, I will ", "Okay, now ", "First, ", "I need to ", "Now I'm going to ",
             "Let's ", "Next step: ", "Great. Now "]


def lower_first(text):
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def chatty(ground, rng):
    if rng.random() < 0.6:
        ground = rng.choice(GREETINGS) + lower_first(ground)
    if rng.random() < 0.6:
        ground = ground.rstrip(". ") + "." + rng.choice(ENDINGS)
    return ground


def narrated(goal, rng):
    return rng.choice(NARRATION) + lower_first(goal)


NUMBER = re.compile(r"(?<![\w.])[A-Za-z#-]{0,4}\d{2,}(?![\w%])")


def other_number(text, rng):
    return "".join(rng.choice("0123456789") if c.isdigit() else c for c in text)


def groups(errands, rng, asked_share=1.0):
    """One epoch of groups. Each goal stands on both sides: on its errand and off another."""
    order = list(errands)
    rng.shuffle(order)
    by_file = {}
    for errand in order:
        by_file.setdefault(errand.file, []).append(errand)
    made = []
    for errand in order:
        others = [e for e in by_file[errand.file] if e.id != errand.id]
        near = [e for e in others if e.domain == errand.domain]

        def foreign(count, near=near, others=others):
            chosen = []
            for _ in range(count):
                other = rng.choice(near) if near and rng.random() < 0.3 else rng.choice(others)
                if rng.random() < 0.85 or not other.off:
                    chosen.append((rng.choice(other.steps), "foreign"))
                else:
                    chosen.append((rng.choice(other.off)["goal"], "foreign"))
            return chosen

        ground = chatty(errand.ground, rng) if rng.random() < 0.15 else errand.ground
        # Earlier steps that a goal may read: the steps before a random place.
        until = rng.randrange(0, len(errand.steps))
        earlier = errand.steps[max(0, until - 2) : until]
        group = Group(ground, earlier, errand.id)
        say = lambda text: narrated(text, rng) if rng.random() < 0.12 else text
        for at, step in enumerate(errand.steps):
            reads = at >= until and bool(earlier)
            group.goals.append((say(step), 1, "honest", 1.0, reads))
        for off in errand.off:
            group.goals.append((say(off["goal"]), 0, off["kind"], 1.0, bool(earlier) and rng.random() < 0.5))
        for text, kind in foreign(7):
            group.goals.append((say(text), 0, kind, 1.0, bool(earlier) and rng.random() < 0.5))
        swapped = []
        for step in errand.steps:
            for number in set(NUMBER.findall(step)) & set(NUMBER.findall(ground)):
                swapped.append((step.replace(number, other_number(number, rng)), 0, "entity", 1.0, False))
        group.goals.extend(rng.sample(swapped, min(2, len(swapped))))
        made.append(group)
        for k, off in enumerate(errand.off):
            if k not in errand.asked or rng.random() > asked_share:
                continue
            asked = errand.asked[k]
            group = Group(chatty(asked, rng) if rng.random() < 0.1 else asked, [], errand.id)
            group.goals.append((say(off["goal"]), 1, "honest", 1.0, False))
            for text, kind in foreign(1):
                group.goals.append((say(text), 0, kind, 0.7, False))
            rest = [o for j, o in enumerate(errand.off) if j != k and o["kind"] != off["kind"]]
            if rest:
                group.goals.append((say(rng.choice(rest)["goal"]), 0, "neighbour", 0.7, False))
            if off["kind"] in ("neighbour", "hijack", "rabbit"):
                group.goals.append((say(rng.choice(errand.steps)), 0, "neighbour", 0.5, False))
            made.append(group)
    return made
