"""PyTorch models that bench/drop_in_workloads.py trains: decoders, encoders, a vision transformer.

Made of torch.nn alone; weights are PyTorch's own initial ones, from the seed that was set before.
"""
import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 8192  # small, so that the products of the last layer do not dominate
PATCH = 16         # pixels along a side of a vision transformer's patch


class Attention(nn.Module):
    """Self-attention; queries, keys and values come from one product or from three."""

    def __init__(self, width, heads, bias, causal=False, fused=True, rotary=False):
        super().__init__()
        parts = 1 if fused else 3
        self.heads, self.causal, self.rotary = heads, causal, rotary
        self.project = nn.ModuleList(nn.Linear(width, 3 * width // parts, bias=bias)
                                     for _ in range(parts))
        self.join = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, tokens, _ = x.shape
        parts = [project(x) for project in self.project]
        parts = parts[0].chunk(3, -1) if len(parts) == 1 else parts
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        if self.rotary:
            q, k = rotate(q), rotate(k)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.join(y.transpose(1, 2).reshape(batch, tokens, -1))


def rotate(x):
    """Rotary embedding of the positions, along the last dimension but one."""
    half = x.shape[-1] // 2
    rates = 1e4 ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    angles = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)[:, None] * rates
    a, b = x.chunk(2, -1)
    return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), -1)


class SwiGLU(nn.Module):
    """LLaMA's feed-forward part."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


def feed_forward(width, gelu):
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate=gelu),
                         nn.Linear(4 * width, width))


class Block(nn.Module):
    """A layer of a transformer, its norms before its parts."""

    def __init__(self, width, norm, attention, feed):
        super().__init__()
        self.norms = nn.ModuleList(norm(width) for _ in range(2))
        self.attention, self.feed = attention, feed

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


class Decoder(nn.Module):
    """Embeddings, blocks, norm and logits; `positions` are learned ones, 0 for none."""

    def __init__(self, width, norm, blocks, positions=0):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(0.02 * torch.randn(positions, width)) if positions else None
        self.blocks = nn.Sequential(*blocks, norm(width))
        self.logits = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens)
        return self.logits(self.blocks(x if self.positions is None else x + self.positions))


def decoder_without_biases(width, layers, heads, hidden):
    """LLaMA's architecture: RMSNorm, rotary embedding, SwiGLU."""
    return Decoder(width, nn.RMSNorm, [
        Block(width, nn.RMSNorm, Attention(width, heads, False, True, fused=False, rotary=True),
              SwiGLU(width, hidden)) for _ in range(layers)])


def decoder_with_biases(width, layers, heads, tokens):
    """GPT-2's architecture: LayerNorm, learned positions, the tanh form of GELU."""
    return Decoder(width, nn.LayerNorm, [
        Block(width, nn.LayerNorm, Attention(width, heads, True, True), feed_forward(width, "tanh"))
        for _ in range(layers)], tokens)


def encoder(width, layers, heads):
    """A vision transformer's encoder: LayerNorm, GELU, no mask."""
    return nn.Sequential(*(
        Block(width, nn.LayerNorm, Attention(width, heads, True), feed_forward(width, "none"))
        for _ in range(layers)), nn.LayerNorm(width))


class VisionTransformer(nn.Module):
    """Patches, embedded by a product, through an encoder to the logits of `classes`."""

    def __init__(self, width, layers, heads, side, classes):
        super().__init__()
        patches = (side // PATCH) ** 2
        self.embedding = nn.Linear(3 * PATCH * PATCH, width)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(patches + 1, width))
        self.encoder = encoder(width, layers, heads)
        self.logits = nn.Linear(width, classes)

    def forward(self, images):
        batch, channels, height, _ = images.shape
        along = height // PATCH
        patches = images.reshape(batch, channels, along, PATCH, along, PATCH)
        patches = patches.permute(0, 2, 4, 1, 3, 5).reshape(batch, along * along, -1)
        x = torch.cat((self.first.expand(batch, -1, -1), self.embedding(patches)), 1)
        return self.logits(self.encoder(x + self.positions)[:, 0])


def perceptron(width, layers):
    """Layers with biases and ReLU; the last one without ReLU."""
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def layers_without_biases(width, layers):
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width, bias=False), nn.GELU()]
    return nn.Sequential(*parts)
