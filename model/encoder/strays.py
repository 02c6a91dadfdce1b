"""Turns errands with a stray that follows from the work into lines of errands. Usage: python strays.py OUT-FOLDER FILES.txt…

An errand is written as

    = subject
    ? a request
    - a step that serves it
    * a step that would serve most requests
    ! kind
    x a step that leaves the request, as it follows from the steps above
    > a request that asks for the steps marked x

A seventh of the errands goes to OUT-FOLDER/kept, for what is learned after the encoder.
"""

import json
import os
import sys

from data import share_of
from network import KINDS


# Goals of fewer words would serve many requests.
FEWEST_WORDS = 4


def errands_of(path):
    """(subject, request, steps, places of steps that serve most requests, kind, strays, request that asks for them)."""
    made, own = [], {}
    for line in open(path, encoding="utf-8"):
        mark, _, text = line.strip().partition(" ")
        text = text.strip()
        if mark == "=":
            own = {"subject": text, "steps": [], "generic": [], "strays": []}
            made.append(own)
        elif not own or not text:
            continue
        elif mark == "?":
            own["ground"] = text
        elif mark in ("-", "*", "x") and len(text.split()) < FEWEST_WORDS:
            continue
        elif mark in ("-", "*"):
            if mark == "*":
                own["generic"].append(len(own["steps"]))
            own["steps"].append(text)
        elif mark == "!":
            own["kind"] = text.split()[0].strip(".,:").lower()
        elif mark == "x":
            own["strays"].append(text)
        elif mark == ">":
            own["asked"] = text
    return made


def main():
    out, *paths = sys.argv[1:]
    os.makedirs(os.path.join(out, "kept"), exist_ok=True)
    count = {}
    for path in paths:
        name = f"{os.path.basename(os.path.dirname(path))}-{os.path.basename(path)[: -len('.txt')]}"
        rows = {False: [], True: []}
        for at, own in enumerate(errands_of(path)):
            if "ground" not in own or len(own["steps"]) < 4:
                count["left out"] = count.get("left out", 0) + 1
                continue
            off = []
            if own.get("kind") in KINDS and own.get("asked"):
                off = [{"kind": own["kind"], "goal": goal, "asked": own["asked"]} for goal in own["strays"]]
            row = {
                "id": f"{name}-{at}",
                "domain": own["subject"],
                "ground": own["ground"],
                "steps": own["steps"],
                "generic": own["generic"],
                "off": off,
            }
            kept = share_of(own["ground"]) < 14
            rows[kept].append(row)
            key = f"{'kept' if kept else 'learned'} {own.get('kind') if off else 'without stray'}"
            count[key] = count.get(key, 0) + 1
        for kept, lines in rows.items():
            if lines:
                with open(os.path.join(out, "kept" if kept else "", f"{name}.jsonl"), "w", encoding="utf-8") as file:
                    file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    print(sum(each for key, each in count.items() if key != "left out"), "errands", count)


if __name__ == "__main__":
    main()
