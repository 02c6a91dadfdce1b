"""The authored errands, their parts, and batches of texts and pairs."""

import glob
import hashlib
import json
import os
import random
import re
from dataclasses import dataclass, field

# Files that no training sees, and files of which a fifth of the errands is kept to judge the training by.
HELD_OUT = ("code2", "desk2")
JUDGED = ("agents", "general", "kinds", "software", "world")


@dataclass
class Errand:
    id: str
    file: str
    ground: str
    steps: list
    off: list
    asked: dict  # place of an off goal to the request under which it is honest
    domain: str
    lang: str = "en"


def read(*folders):
    """All errands of folders, in the order of files and lines. A request that asks for an off goal stands in
    `asked-FILE.jsonl`, or as `asked` beside the goal."""
    errands = []
    for path in sorted(path for folder in folders for path in glob.glob(os.path.join(folder, "*.jsonl"))):
        name = os.path.basename(path)[: -len(".jsonl")]
        if name.startswith("asked-") or name.startswith("runs"):
            continue
        asked = {}
        counter = os.path.join(os.path.dirname(path), f"asked-{name}.jsonl")
        if os.path.exists(counter):
            for line in open(counter, encoding="utf-8"):
                row = json.loads(line)
                asked.setdefault(row["id"], {})[row["k"]] = row["asked"]
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            own = asked.get(row["id"], {})
            own.update({k: off["asked"] for k, off in enumerate(row["off"]) if off.get("asked")})
            errands.append(Errand(row["id"], name, row["ground"], row["steps"], row["off"], own, row.get("domain", ""), row.get("lang", "en")))
    return errands


def place(errand):
    """0-99, fixed by the id of an errand."""
    return int(hashlib.sha256(errand.id.encode()).hexdigest()[:8], 16) % 100


def parts(errands):
    """train, dev (a fifth of the judged files), test (the held-out files)."""
    outside = [e for e in errands if e.file not in HELD_OUT]
    return (
        [e for e in outside if place(e) >= 20 or e.file not in JUDGED],
        [e for e in outside if place(e) < 20 and e.file in JUDGED],
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


@dataclass
class Batch:
    """Texts and pairs. A pair: (goal, errand, label, kind, weight); `both` holds places of pairs of one goal,
    first beside the errand that it serves, then beside another."""

    texts: list = field(default_factory=list)  # (text, is errand)
    pairs: list = field(default_factory=list)
    both: list = field(default_factory=list)
    groups: list = field(default_factory=list)  # [text] -> the errand that the text was written for
    runs: list = field(default_factory=list)  # [errand] -> the texts of its steps, in order


def batches(errands, size, rng):
    """One epoch of batches. The errands of a batch come from one file, so that a foreign goal has the voice of an
    honest one, and each goal stands on both sides: beside the errand that it serves and beside another."""
    by_file = {}
    for errand in errands:
        by_file.setdefault(errand.file, []).append(errand)
    made = []
    for own in by_file.values():
        rng.shuffle(own)
        count = max(1, round(len(own) / size))
        made += [batch(own[at::count], rng) for at in range(count)]
    rng.shuffle(made)
    return made


def balanced(pairs):
    """The pairs with weights by which each goal weighs as much on the side that it serves as on the others: how a
    goal is worded then tells nothing. A goal that stands on one side only weighs less."""
    sides = {}
    for goal, _, label, _, weight in pairs:
        sides.setdefault(goal, [0.0, 0.0])[label] += weight
    made = []
    for goal, errand, label, kind, weight in pairs:
        off, on = sides[goal]
        made.append((goal, errand, label, kind, weight * (off + on) / 2 / sides[goal][label] if off and on else weight * 0.3))
    return made


def batch(errands, rng):
    made = Batch()

    def text(value, errand, group):
        made.texts.append((value, errand))
        made.groups.append(group)
        return len(made.texts) - 1

    def pair(goal, errand, label, kind, weight=1.0):
        made.pairs.append((goal, errand, label, kind, weight))
        return len(made.pairs) - 1

    say = lambda value: narrated(value, rng) if rng.random() < 0.1 else value
    grounds = [
        text(chatty(e.ground, rng) if rng.random() < 0.15 else e.ground, True, at) for at, e in enumerate(errands)
    ]
    steps = [[text(say(step), False, at) for step in e.steps] for at, e in enumerate(errands)]

    def other(at):
        return (at + rng.randrange(1, len(errands))) % len(errands) if len(errands) > 1 else None

    made.runs = steps
    for at, errand in enumerate(errands):
        # A number of the request that steps name too; beside the same request with another number they are off.
        shared = sorted(set(NUMBER.findall(errand.ground)) & set(NUMBER.findall(" ".join(errand.steps))))
        number = rng.choice(shared) if shared else None
        if number:
            instead = other_number(number, rng)
            moved = text(errand.ground.replace(number, instead), True, at)
        for step, words in zip(steps[at], errand.steps):
            on = pair(step, grounds[at], 1, "honest")
            for foreign in {other(at) for _ in range(1 if errand.off else 2)} - {None}:
                made.both.append((on, pair(step, grounds[foreign], 0, "foreign")))
            if number and number in words and rng.random() < 0.6:
                changed = text(words.replace(number, instead), False, at)
                away = pair(changed, grounds[at], 0, "entity")
                made.both.append((on, away))
                made.both.append((pair(changed, moved, 1, "honest"), away))
                pair(step, moved, 0, "entity")
        offs = [text(say(off["goal"]), False, at) for off in errand.off]
        for k, off in enumerate(errand.off):
            away = pair(offs[k], grounds[at], 0, off["kind"])
            foreign = other(at)
            if foreign is not None and rng.random() < 0.25:
                pair(offs[k], grounds[foreign], 0, "foreign", 0.7)
            if k not in errand.asked:
                continue
            asked = errand.asked[k]
            request = text(chatty(asked, rng) if rng.random() < 0.1 else asked, True, at)
            made.both.append((pair(offs[k], request, 1, "honest"), away))
            rest = [j for j, o in enumerate(errand.off) if j != k and o["kind"] != off["kind"]]
            if rest and rng.random() < 0.7:
                pair(offs[rng.choice(rest)], request, 0, "neighbour", 0.7)
            if off["kind"] in ("neighbour", "hijack", "rabbit") and rng.random() < 0.7:
                pair(rng.choice(steps[at]), request, 0, "neighbour", 0.5)
            if foreign is not None and rng.random() < 0.7:
                pair(rng.choice(steps[foreign]), request, 0, "foreign", 0.7)
    made.pairs = balanced(made.pairs)
    return made
