"""Turns groups of sibling requests into errands. Usage: python groups.py OUT-FOLDER GROUPS.txt…

A group is written as

    = KIND | world
    ? a request
    - a step that serves it alone
    * a step that serves its siblings too

The steps of a request are goals that leave its siblings, with the request that asks for them. A seventh of the groups
goes to OUT-FOLDER/kept, for what is learned after the encoder; there siblings have one id, so that they stay together.
"""

import json
import os
import random
import sys

from data import share_of

KINDS = ("neighbour", "entity", "opposite", "creep")


def groups_of(path):
    groups = []
    for line in open(path, encoding="utf-8"):
        mark, _, text = line.strip().partition(" ")
        text = text.strip()
        if mark == "=":
            kind, _, world = text.partition("|")
            groups.append((kind.strip(), world.strip(), []))
        elif mark == "?" and groups:
            groups[-1][2].append((text, [], []))
        elif mark in ("-", "*") and groups and groups[-1][2]:
            _, steps, shared = groups[-1][2][-1]
            if mark == "*":
                shared.append(len(steps))
            steps.append(text)
    return groups


def main():
    out, *paths = sys.argv[1:]
    os.makedirs(os.path.join(out, "kept"), exist_ok=True)
    count = {}
    for path in paths:
        name = os.path.basename(os.path.dirname(path))
        rows = {False: [], True: []}
        for at, (kind, world, requests) in enumerate(groups_of(path)):
            requests = [each for each in requests if len(each[1]) >= 4]
            if kind not in KINDS or len(requests) < 2:
                count["left out"] = count.get("left out", 0) + 1
                continue
            rng = random.Random(requests[0][0])
            kept = share_of(requests[0][0]) < 14
            for which, (ground, steps, shared) in enumerate(requests):
                off = [
                    {"kind": kind, "goal": step, "asked": other}
                    for other, theirs, common in requests
                    if other != ground
                    for place, step in enumerate(theirs)
                    if place not in common
                ]
                rng.shuffle(off)
                rows[kept].append({"id": f"{name}-{at}" if kept else f"{name}-{at}-{which}", "domain": world, "ground": ground, "steps": steps, "shared": shared, "off": off})
            count[kind] = count.get(kind, 0) + 1
        for kept, folder in ((False, out), (True, os.path.join(out, "kept"))):
            with open(os.path.join(folder, f"sib-{name}.jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[kept])
    print(count)


if __name__ == "__main__":
    main()
