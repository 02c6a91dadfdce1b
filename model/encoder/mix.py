"""Mixes the weights of two trainings. Usage: python mix.py OLD.bin NEW.pt OUT.pt [ALONE COMPARING]

Layers that read a text alone are mostly of the new training, and those that compare a goal with its errand are of both:
the new one may have had other goals to compare.
"""

import sys

import torch

from restore import restored

SHARES = (0.9, 0.65)  # of the new training, in the layers that read a text alone and in those that compare
COMPARES = ("cross", "hidden", "score", "near")


def main():
    old_path, new_path, out, *given = sys.argv[1:]
    alone, comparing = map(float, given) if given else SHARES
    old, saved = restored(old_path).state_dict(), torch.load(new_path)

    def share(name):
        part = name.split(".")[0]
        # The file of the server lacks the head for the kinds, and old ones that for messages.
        return 1 if part in ("kind", "effect") else comparing if part in COMPARES else alone

    mixed = {name: (1 - share(name)) * old[name] + share(name) * new for name, new in saved["weights"].items()}
    torch.save({**saved, "weights": mixed}, out)


if __name__ == "__main__":
    main()
