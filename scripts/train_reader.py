"""Train a reader: a model that says whether a memory holds the answer of a question.

    python scripts/train_reader.py --data FOLDER --weights MODEL_FOLDER --out FOLDER

The shipped reader had two runs on one core (decision 0056): `--minutes 60`, 23 minutes; then
`--sets fairy,molweni,squad --start STEP1276 --rate 7e-5 --seed 1 --minutes 46`, 37 minutes.
`scripts/build_reader_graph.py` makes its file of the last checkpoint.

It needs torch, tokenizers and safetensors as tools; the product needs none of it. The start is
the encoder's own stack (6 layers); the embeddings stay frozen. Input is `question [SEP] memory`;
a linear layer over the first token and the mean of the memory's tokens gives one logit. The loss
is a binary one for each pair, a softmax over the pairs of each question, and a softmax over the
words of the memory where the answer stands in it word by word.
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from ecphoria.calibration.separation import auroc

LAYERS, HEADS, WIDTH = 6, 12, 384
FROZEN = 2
"""Layers, from below, that stay as the encoder has them."""
LONGEST = 112
QUESTION = 32
CLS, SEP = 101, 102


@dataclass(frozen=True, slots=True)
class Pair:
    """A question's pieces, a memory's pieces, the answer's place in it (or none)."""

    ids: list[int]
    start: int
    label: int
    kind: str
    span: tuple[int, int] | None


Group = list[Pair]
Rows = list[list[dict]]
"""The rows of a file, by question."""


def encode(tokenizer: Tokenizer, row: dict) -> Pair:
    """Cut `[CLS] question [SEP] memory [SEP]` to 112 pieces."""
    question, memory, answer = row["q"], row["p"], row["a"]
    asked = tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION]
    told = tokenizer.encode(memory[: 8 * LONGEST], add_special_tokens=False)
    head = [CLS, *asked, SEP]
    room = LONGEST - len(head) - 1
    ids = [*head, *told.ids[:room], SEP]
    span = None
    at = memory.lower().find(answer.lower()) if answer else -1
    if at >= 0:
        inside = [
            n for n, (a, b) in enumerate(told.offsets[:room]) if a < at + len(answer) and b > at
        ]
        if inside:
            span = (inside[0] + len(head), inside[-1] + len(head))
    return Pair(ids, len(head), row["y"], row["kind"], span)


def read(path: Path) -> list[tuple[str, list[dict]]]:
    """Read pairs as groups by question, each under the name of its story."""
    rows: dict[str, list[dict]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            rows.setdefault(row["qid"] + row["q"], []).append(row)
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for group in rows.values():
        names = [one["p"] for one in group] + [group[0]["qid"].rstrip("0123456789")]
        if not path.name.startswith("fairy"):
            names.pop()
        for one in names[1:]:
            parent[root(one)] = root(names[0])
    return [(root(group[0]["p"]), group) for group in rows.values()]


def encoded(tokenizer: Tokenizer, groups: Sequence[list[dict]]) -> list[Group]:
    """Cut the pairs of some questions to pieces."""
    return [[encode(tokenizer, row) for row in group] for group in groups]


class Layer(nn.Module):
    """A layer of BERT over rows of real tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.first, self.second = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(
        self, rows: Tensor, real: Tensor, bias: Tensor, shape: tuple[int, int], drop: float
    ) -> Tensor:
        """Mix the tokens [n, width] of each text, given their places in a grid of that shape."""

        def heads(one: Tensor) -> Tensor:
            full = one.new_zeros(shape[0] * shape[1], WIDTH).index_copy(0, real, one)
            return full.view(*shape, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            heads(self.query(rows)),
            heads(self.key(rows)),
            heads(self.value(rows)),
            attn_mask=bias.to(rows.dtype),
        )
        flat = mixed.transpose(1, 2).reshape(-1, WIDTH)[real]
        train = self.training
        rows = self.first(rows + functional.dropout(self.out(flat), drop, train))
        wide = functional.gelu(self.wide(rows))
        return self.second(rows + functional.dropout(self.narrow(wide), drop, train))


NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "first": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "second": "output.LayerNorm",
}


def encoder_name(name: str) -> str:
    """Name a part of a layer as the encoder's file does; the head keeps its name."""
    if not name.startswith("layers."):
        return name
    _, number, part, kind = name.split(".")
    return f"encoder.layer.{number}.{NAMES[part]}.{kind}"


class Reader(nn.Module):
    """The encoder's stack with a head of one logit, and two logits a word for the span."""

    def __init__(self, weights: Path, drop: float = 0.1) -> None:
        super().__init__()
        found = load_file(weights / "model.safetensors")
        for name, key in (("words", "word"), ("places", "position"), ("types", "token_type")):
            self.register_buffer(
                name, found[f"embeddings.{key}_embeddings.weight"], persistent=False
            )
        self.register_buffer("scale", found["embeddings.LayerNorm.weight"], persistent=False)
        self.register_buffer("shift", found["embeddings.LayerNorm.bias"], persistent=False)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            for name, key in NAMES.items():
                part = getattr(layer, name)
                for kind in ("weight", "bias"):
                    getattr(part, kind).data.copy_(found[f"encoder.layer.{number}.{key}.{kind}"])
        self.head, self.span, self.drop = nn.Linear(2 * WIDTH, 1), nn.Linear(WIDTH, 2), drop
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        """Give logits [n], the span's [n, longest, 2], and which tokens are the memory's."""
        shape = (len(pairs), max(len(one.ids) for one in pairs))
        ids, kinds = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        there = np.zeros(shape, bool)
        for row, one in enumerate(pairs):
            ids[row, : len(one.ids)] = one.ids
            there[row, : len(one.ids)] = True
            kinds[row, one.start : len(one.ids)] = 1
        real = torch.from_numpy(np.flatnonzero(there))
        flat_ids, flat_kinds = (
            torch.from_numpy(ids).view(-1)[real],
            torch.from_numpy(kinds).view(-1)[real],
        )
        rows = self.words[flat_ids] + self.places[real % shape[1]] + self.types[flat_kinds]
        rows = functional.layer_norm(rows, (WIDTH,), self.scale, self.shift, 1e-12)
        rows = functional.dropout(rows, self.drop, self.training)
        mask = torch.from_numpy(there)
        bias = torch.zeros(shape).masked_fill(~mask, -1e9)[:, None, None, :]
        for number, layer in enumerate(self.layers):
            if number < FROZEN:
                with torch.no_grad():
                    rows = layer(rows, real, bias, shape, 0.0)
            else:
                rows = layer(rows, real, bias, shape, self.drop)
        rows = rows.float()
        full = (
            rows.new_zeros(shape[0] * shape[1], WIDTH)
            .index_copy(0, real, rows)
            .view(*shape, WIDTH)
        )
        told = torch.from_numpy(kinds.astype(np.float32))
        mean = (full * told[:, :, None]).sum(1) / told.sum(1, keepdim=True)
        joined = functional.dropout(torch.cat((full[:, 0], mean), 1), self.drop, self.training)
        return self.head(joined)[:, 0], self.span(full), told > 0


def loss_of(reader: Reader, groups: Sequence[Group], parts: tuple[float, float]) -> Tensor:
    """Sum the loss of the pairs, of each question's order and of the spans."""
    pairs = [one for group in groups for one in group]
    with torch.autocast("cpu", torch.bfloat16):
        logits, spans, told = reader(pairs)
    logits, spans = logits.float(), spans.float()
    labels = torch.tensor([float(one.label) for one in pairs])
    # Each side weighs half.
    share = labels.mean().clamp(0.05, 0.95)
    weight = torch.where(labels > 0, 0.5 / share, 0.5 / (1 - share))
    total = functional.binary_cross_entropy_with_logits(logits, labels, weight=weight)
    ranks, at = [], 0
    for group in groups:
        part, mine = logits[at : at + len(group)], labels[at : at + len(group)]
        at += len(group)
        if 0 < mine.sum() < len(group):
            ranks.append(torch.logsumexp(part, 0) - torch.logsumexp(part[mine > 0], 0))
    if ranks:
        total = total + parts[0] * torch.stack(ranks).mean()
    known = [row for row, one in enumerate(pairs) if one.span]
    if known:
        chosen = spans[known].masked_fill(~told[known][:, :, None], -1e9)
        for side in (0, 1):
            wanted = torch.tensor([pairs[row].span[side] for row in known])
            total = total + parts[1] / 2 * functional.cross_entropy(chosen[:, :, side], wanted)
    return total


@torch.no_grad()
def score(reader: Reader, pairs: Sequence[Pair], size: int = 32) -> np.ndarray:
    """Give the logit of each pair, in order."""
    reader.eval()
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
    found = np.zeros(len(pairs))
    for start in range(0, len(order), size):
        part = order[start : start + size]
        with torch.autocast("cpu", torch.bfloat16):
            found[part] = reader([pairs[at] for at in part])[0].float().numpy()
    reader.train()
    return found


def batches(
    sets: Sequence[list[list[dict]]], size: int, chance: random.Random
) -> Iterator[list[list[dict]]]:
    """Go once through all questions; batches of questions of like length, in random order."""
    groups = [group for one in sets for group in one]
    chance.shuffle(groups)
    pools = [groups[at : at + 50 * size] for at in range(0, len(groups), 50 * size)]
    found = []
    for pool in pools:
        pool.sort(key=lambda group: max(len(one["p"]) for one in group))
        part = [pool[at : at + size] for at in range(0, len(pool), size)]
        chance.shuffle(part)
        found += part
    yield from found


def load(data: Path, names: Sequence[str]) -> tuple[list[Rows], dict[str, Rows]]:
    """Read the sets; a tenth of the stories of each is held out."""
    train, held = [], {}
    for name in names:
        named = read(data / f"{name}.jsonl.gz")
        stories = sorted({story for story, _ in named})
        random.Random(1).shuffle(stories)  # noqa: S311 - no secret
        out = set(stories[: max(1, len(stories) // 10)])
        train.append([group for story, group in named if story not in out])
        held[name] = [group for story, group in named if story in out]
        print(name, len(train[-1]), "questions,", len(held[name]), "held out", flush=True)
    return train, held


def optimizer_of(reader: Reader, rate: float) -> torch.optim.Optimizer:
    """Train the head fast, the layers slowly; only matrices of layers decay."""
    for layer in reader.layers[:FROZEN]:
        layer.requires_grad_(requires_grad=False)
    named = [(name, part) for name, part in reader.named_parameters() if part.requires_grad]
    head = [part for name, part in named if name.startswith(("head", "span"))]
    rest = [part for name, part in named if not name.startswith(("head", "span"))]
    matrices = [part for part in rest if part.ndim > 1]
    vectors = [part for part in rest if part.ndim == 1]
    return torch.optim.AdamW(
        [
            {"params": head, "rate": 1e-3, "weight_decay": 0.0},
            {"params": matrices, "rate": rate, "weight_decay": 0.01},
            {"params": vectors, "rate": rate, "weight_decay": 0.0},
        ]
    )


def update(reader: Reader, optimizer: torch.optim.Optimizer, groups: list[Group]) -> float:
    """Take one step, and give its loss."""
    loss = loss_of(reader, groups, (0.5, 0.3))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
    optimizer.step()
    return float(loss.item())


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train the reader.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", default="fairy,molweni")
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--questions", type=int, default=8, help="of one update")
    parser.add_argument("--every", type=float, default=240, help="seconds between checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    """Train one pass, and write the running mean of the weights every few minutes."""
    given = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    chance = random.Random(given.seed)  # noqa: S311 - no secret
    tokenizer = Tokenizer.from_file(str(given.weights / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    train, held = load(given.data, given.sets.split(","))
    reader = Reader(given.weights)
    if given.start:
        found = load_file(given.start)
        names = [name for name, _ in reader.named_parameters() if encoder_name(name) in found]
        reader.load_state_dict({name: found[encoder_name(name)] for name in names}, strict=False)
    optimizer = optimizer_of(reader, given.rate)
    named = [(name, part) for name, part in reader.named_parameters() if part.requires_grad]
    mean = {name: part.detach().clone() for name, part in named}
    given.out.mkdir(parents=True, exist_ok=True)
    todo, losses = list(batches(train, given.questions, chance)), []
    begun, saved = time.monotonic(), time.process_time()
    for step, groups in enumerate(todo):
        minutes = (time.monotonic() - begun) / 60
        done = max(step / len(todo), minutes / given.minutes)
        if done >= 1:
            break
        factor = min(1.0, (step + 1) / 40) * (1.0 if done < 0.6 else (1.0 - done) / 0.4)
        for part in optimizer.param_groups:
            part["lr"] = part["rate"] * factor
        losses.append(update(reader, optimizer, encoded(tokenizer, groups)))
        with torch.no_grad():
            for name, part in named:
                mean[name].lerp_(part, 1 - min(0.99, 1 - 3 / (step + 4)))
        if step % 50 == 0:
            left = minutes / max(done, 1e-6) - minutes
            print(f"step {step} loss {np.mean(losses[-50:]):.3f}, {left:.0f} min left", flush=True)
        if time.process_time() - saved > given.every:
            checkpoint(reader, mean, given.out / f"step{step}.safetensors", {})
            saved = time.process_time()
    judged = {name: encoded(tokenizer, groups[:150]) for name, groups in held.items()}
    checkpoint(reader, mean, given.out / "last.safetensors", judged)


def checkpoint(
    reader: Reader, mean: dict[str, Tensor], file: Path, held: dict[str, list[Group]]
) -> None:
    """Write the mean of the weights, and judge it on the questions held out."""
    save_file({encoder_name(name): part.contiguous() for name, part in mean.items()}, file)
    own = {name: part.detach().clone() for name, part in reader.named_parameters()}
    reader.load_state_dict(mean, strict=False)
    for name, groups in held.items():
        pairs = [one for group in groups for one in group]
        logits = score(reader, pairs)
        right = np.array([one.label == 1 for one in pairs])
        for kind in sorted({one.kind for one in pairs if not one.label}):
            wrong = np.array([one.kind == kind for one in pairs])
            found = auroc(logits[right].tolist(), logits[wrong].tolist())
            told = "none has the answer" if found is None else f"{found:.3f}"
            print(f"held out {name}, {kind}: {told}", flush=True)
    reader.load_state_dict(own, strict=False)


if __name__ == "__main__":
    main()
