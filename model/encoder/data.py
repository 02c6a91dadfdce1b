"""The authored errands, their parts, and batches of texts and pairs."""

import glob
import hashlib
import json
import os
import random
from dataclasses import dataclass, field, replace

from things import FILE, mentions, named, other_of, replaced

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
    shared: tuple = ()  # places of steps that serve the requests of the off goals too
    generic: tuple = ()  # places of steps that would serve most requests, which so leave none


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
            errands.append(Errand(row["id"], name, row["ground"], row["steps"], row["off"], own, row.get("domain", ""), row.get("lang", "en"), tuple(row.get("shared", ())), tuple(row.get("generic", ()))))
    return errands


EFFECTS = ["none", "refines", "adds", "replaces"]


def read_messages(folder):
    """Messages of users, (standing request, message, place of its effect in EFFECTS), without the seventh that is kept
    back to weigh what is learned of them."""
    messages = []
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            if share_of(row["text"]) >= 15:
                messages.append((row["standing"], row["text"], EFFECTS.index(row["effect"])))
    return messages


def share_of(text):
    """0-99, fixed by a text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 100


def place(errand):
    """0-99, fixed by the id of an errand."""
    return share_of(errand.id)


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


@dataclass
class Pair:
    """A goal beside an errand, by the places of their texts."""

    goal: int
    errand: int
    label: int
    kind: str
    weight: float
    before: tuple  # the places of the pairs of the steps before, which are read too


@dataclass
class Batch:
    texts: list = field(default_factory=list)  # (text, is errand)
    pairs: list = field(default_factory=list)
    # Places of pairs of one goal, first beside the errand that it serves, then beside another.
    both: list = field(default_factory=list)
    groups: list = field(default_factory=list)  # [text] -> the errand that the text was written for
    runs: list = field(default_factory=list)  # [errand] -> the texts of its steps, in order
    # Messages of users beside the requests that stand: (place of the message, of the request, of the effect).
    messages: list = field(default_factory=list)

    def add_messages(self, messages):
        for standing, text, effect in messages:
            place = len(self.texts)
            self.texts += [(text, False), (standing, True)]
            self.groups += [None, None]
            self.messages.append((place, place + 1, effect))


def batches(errands, size, rng, beside=True):
    """One epoch of batches. The errands of a batch come from one file or one writer, so that a foreign goal has the voice
    of an honest one, and each goal stands on both sides: beside the errand that it serves and beside another."""
    by_file = {}
    for errand in errands:
        by_file.setdefault(errand.file, []).append(errand)
    # Most files of one writer, which are called WRITER-…, are mixed: others of a file are the hardest.
    for name in [name for name in by_file if "-" in name and rng.random() < 0.7]:
        by_file.setdefault(name.split("-")[0], []).extend(by_file.pop(name))
    files = [name for errand in errands for name in FILE.findall(" ".join([errand.ground, *errand.steps]))]
    made = []
    for own in by_file.values():
        rng.shuffle(own)
        count = max(1, round(len(own) / size))
        made += [batch(own[at::count], files, rng, beside) for at in range(count) if len(own[at::count]) > 3]
    rng.shuffle(made)
    return made


def balanced(pairs):
    """The pairs with weights by which each goal weighs as much on the side that it serves as on the others: how a
    goal is worded then tells nothing. A goal that stands on one side only weighs less."""
    sides = {}
    for pair in pairs:
        sides.setdefault((pair.goal, pair.before != ()), [0.0, 0.0])[pair.label] += pair.weight
    made = []
    for pair in pairs:
        own = sides[pair.goal, pair.before != ()]
        weight = pair.weight * (sum(own) / 2 / own[pair.label] if min(own) > 0 else 0.3)
        made.append(replace(pair, weight=weight))
    return made


def batch(errands, files, rng, beside_steps=True):
    """`files`: names of files that stand for others in errands."""
    made = Batch()

    def text(value, errand, group):
        made.texts.append((value, errand))
        made.groups.append(group)
        return len(made.texts) - 1

    def pair(goal, errand, label, kind, weight=1.0, before=()):
        made.pairs.append(Pair(goal, errand, label, kind, weight, before))
        return len(made.pairs) - 1

    say = lambda value: narrated(value, rng) if rng.random() < 0.1 else value
    grounds = [
        text(chatty(e.ground, rng) if rng.random() < 0.15 else e.ground, True, at) for at, e in enumerate(errands)
    ]
    steps = [[text(say(step), False, at) for step in e.steps] for at, e in enumerate(errands)]

    def other(at):
        """Another errand of the batch, of another world; None if there is none."""
        own = errands[at].domain
        others = [place for place, each in enumerate(errands) if place != at and not (own and each.domain == own)]
        return rng.choice(others) if others else None

    def before(at, place):
        """One to four steps that stand shortly before a place of a run."""
        near = steps[at][max(0, place - rng.choice((2, 4, 6))) : place]
        count = min(len(near), rng.choice((1, 2, 2, 3, 4, 4)))
        return [near[each] for each in sorted(rng.sample(range(len(near)), count))]

    def swap_things(at, errand):
        """Things that request and steps name, in their place others of their kind: the changed step leaves the request
        and serves the one that is changed alike."""
        shared = [thing for thing in sorted(named(errand.ground)) if any(mentions(step, thing) for step in errand.steps)]
        for thing in rng.sample(shared, min(1, len(shared))):
            instead = other_of(thing, files, rng)
            if instead is None or instead in errand.ground:
                continue
            moved = text(replaced(errand.ground, thing, instead), True, at)
            for step, words in zip(steps[at], errand.steps):
                if not mentions(words, thing):
                    continue
                on = pair(step, grounds[at], 1, "honest", 0.7)
                changed = text(replaced(words, thing, instead), False, at)
                away = pair(changed, grounds[at], 0, "entity", 0.7)
                made.both.append((on, away))
                made.both.append((pair(changed, moved, 1, "honest", 0.7), pair(step, moved, 0, "entity", 0.7)))

    known = {}

    def beside(goals, ground):
        """The places of the pairs of goals with an errand."""
        return tuple(known[goal, ground] if (goal, ground) in known else alone(goal, ground) for goal in goals)

    def alone(goal, ground):
        """A pair that is only read by others."""
        return known.setdefault((goal, ground), pair(goal, ground, 0, "foreign", 0))

    def follow_steps(at):
        """The steps of a run beside the steps before, and beside request and steps before of another run; now and
        then a step before is of the wrong run."""
        for place in range(1, len(steps[at])):
            foreign = other(at)
            if foreign is None:
                return
            step = steps[at][place]
            own = before(at, place)
            if rng.random() < 0.1:
                own = [rng.choice(steps[foreign]), *own[1:]]
            theirs = before(foreign, rng.randrange(1, len(steps[foreign])))
            if rng.random() < 0.2:
                theirs = [*theirs[:-1], steps[at][place - 1]]
            on = pair(step, grounds[at], 1, "honest", before=beside(own, grounds[at]))
            away = pair(step, grounds[foreign], 0, "foreign", before=beside(theirs, grounds[foreign]))
            made.both.append((on, away))

    made.runs = steps
    for at, errand in enumerate(errands):
        for place, step in enumerate(steps[at]):
            on = known[step, grounds[at]] = pair(step, grounds[at], 1, "honest")
            if place in errand.generic:
                continue
            for foreign in {other(at) for _ in range(1 if errand.off else 2)} - {None}:
                away = known[step, grounds[foreign]] = pair(step, grounds[foreign], 0, "foreign")
                made.both.append((on, away))
    for at, errand in enumerate(errands):
        if beside_steps:
            follow_steps(at)
        swap_things(at, errand)
        offs = {k: text(say(off["goal"]), False, at) for k, off in enumerate(errand.off) if rng.random() < 0.6}
        requests = {}
        for k, goal in offs.items():
            off = errand.off[k]
            away = pair(goal, grounds[at], 0, off["kind"])
            foreign = other(at)
            if foreign is not None and rng.random() < 0.25:
                pair(goal, grounds[foreign], 0, "foreign", 0.7)
            if k not in errand.asked:
                continue
            asked = errand.asked[k]
            if asked not in requests:
                requests[asked] = text(chatty(asked, rng) if rng.random() < 0.1 else asked, True, at)
            request = requests[asked]
            made.both.append((pair(goal, request, 1, "honest"), away))
            rest = [each for j, each in offs.items() if errand.off[j]["kind"] != off["kind"]]
            if rest and rng.random() < 0.7:
                pair(rng.choice(rest), request, 0, "neighbour", 0.7)
            own = [step for place, step in enumerate(steps[at]) if place not in (*errand.shared, *errand.generic)]
            if off["kind"] in ("neighbour", "hijack", "rabbit") and own and rng.random() < 0.7:
                pair(rng.choice(own), request, 0, "neighbour", 0.5)
            if foreign is not None and rng.random() < 0.7:
                pair(rng.choice(steps[foreign]), request, 0, "foreign", 0.7)
    made.pairs = balanced(made.pairs)
    return made
