"""Write the ONNX graph of the reader: the encoder's stack with the changes of a training.

Run by a maintainer after `scripts/train_reader.py`; needs the `onnx` package, not torch:

    python scripts/build_reader_graph.py PATH/TO/model.safetensors TRAINED.safetensors

The encoder's weights stay in the model's own file. The graph holds what the training changed: of
each matrix the best approximation of the change by rank 16 (truncated singular values), as half
floats; biases, norms and the head whole. That is about 1 MB. Inputs are `ids`, `mask` and `kinds`
(0 for the question, 1 for the memory) [batch, seq]; the output is one logit a pair.
"""

import argparse
import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from scripts.build_encoder_graph import (
    EPSILON,
    LAYERS,
    WIDTH,
    GraphBuilder,
    attend,
    external_tensors,
    feed_forward,
    prepare_shapes,
    serialised,
)

RANK = 16
"""Singular values that are kept of a change; 48 gave the same figures (decision 0056)."""

TARGET = Path(__file__).parents[1] / "service" / "ecphoria" / "models" / "reader.onnx"

Tensors = Mapping[str, NDArray[np.float32]]


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Load the float32 tensors of a safetensors file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(data[start:end], np.float32).reshape(entry["shape"])
    return found


class ReaderBuilder(GraphBuilder):
    """Uses a trained tensor in place of the encoder's where there is one."""

    def __init__(self, base: Path, trained: Tensors) -> None:
        super().__init__(external_tensors(base))
        self._base, self._trained = read_tensors(base), trained

    def weight(self, name: str) -> str:
        """Use a tensor: the encoder's, with its change if it was trained."""
        trained = self._trained.get(name)
        if trained is None:
            return super().weight(name)
        if f"{name}.read" in self.initializers or any(
            n.name == f"{name}.read" for n in self.nodes
        ):
            return f"{name}.read"
        if trained.ndim == 1:
            return self.own(f"{name}.read", trained)
        left, values, right = np.linalg.svd(trained - self._base[name], full_matrices=False)
        up = self.half(f"{name}.up", left[:, :RANK] * values[:RANK])
        down = self.half(f"{name}.down", right[:RANK])
        # Added once when the graph is loaded: onnxruntime folds what has no input.
        return self.add("Gemm", [up, down, super().weight(name)], f"{name}.read")

    def own(self, name: str, values: NDArray[np.float32]) -> str:
        """Keep a tensor inside the graph."""
        self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def half(self, name: str, values: NDArray[np.float32]) -> str:
        """Keep a tensor as half floats; the graph computes with single ones."""
        self.own(f"{name}.half", values.astype(np.float16))
        return self.add("Cast", [f"{name}.half"], name, to=TensorProto.FLOAT)


def embed_pairs(graph: GraphBuilder) -> str:
    """Sum word, position and kind of each piece: [batch, seq, width]."""
    zero = graph.constant("zero", TensorProto.INT64, 0)
    one = graph.constant("one", TensorProto.INT64, 1)
    length = graph.add("Gather", ["ids_shape", one], "length")
    range_ = graph.add("Range", [zero, length, one], "range")
    parts = {"word": "ids", "position": range_, "token_type": "kinds"}
    word, place, kind = (
        graph.add("Gather", [graph.weight(f"embeddings.{part}_embeddings.weight"), at], part)
        for part, at in parts.items()
    )
    placed = graph.add("Add", [word, place], "placed")
    total = graph.add("Add", [placed, kind], "embedded")
    scale, shift = (graph.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
    return graph.add("LayerNormalization", [total, scale, shift], "embeddings", epsilon=EPSILON)


def judge(graph: ReaderBuilder, rows: str, head: Tensors) -> str:
    """Weigh the first piece and the mean of the memory's pieces: one logit a pair."""
    width = graph.constant("width", TensorProto.INT64, [WIDTH])
    shape = graph.add("Concat", ["ids_shape", width], "pieces_shape", axis=0)
    pieces = graph.add("Reshape", [rows, shape], "pieces")
    first = graph.add("Gather", [pieces, "zero"], "first", axis=1)
    told = graph.add("Cast", ["kinds"], "told", to=TensorProto.FLOAT)
    axis = graph.constant("axis", TensorProto.INT64, [1])
    shares = graph.add("Unsqueeze", [told, axis], "shares")
    total = graph.add("Squeeze", [graph.add("MatMul", [shares, pieces], "sum"), axis], "told_sum")
    count = graph.add("ReduceSum", [told, axis], "count", keepdims=1)
    mean = graph.add("Div", [total, count], "mean")
    joined = graph.add("Concat", [first, mean], "joined", axis=1)
    weight, bias = (graph.own(f"head.{part}", head[f"head.{part}"]) for part in ("weight", "bias"))
    logits = graph.add("Gemm", [joined, weight, bias], "head", transB=1)
    return graph.add("Squeeze", [logits, axis], "logits")


def build(base: Path, trained: Path) -> bytes:
    """Return the serialised reader."""
    tensors = read_tensors(trained)
    graph = ReaderBuilder(base, tensors)
    prepare_shapes(graph)
    rows = graph.add("Reshape", [embed_pairs(graph), "rows_shape"], "rows")
    for number in range(LAYERS):
        layer = f"layer.{number}"
        rows = feed_forward(graph, attend(graph, rows, layer), layer)
    output = judge(graph, rows, tensors)
    inputs = {"ids": TensorProto.INT64, "mask": TensorProto.FLOAT, "kinds": TensorProto.INT64}
    return serialised(graph, "reader", inputs, {output: ["batch"]})


def main() -> None:
    """Write the graph beside the module that loads it."""
    parser = argparse.ArgumentParser(description="Write the reader's ONNX graph.")
    parser.add_argument("weights", type=Path, help="the encoder's model.safetensors")
    parser.add_argument("trained", type=Path, help="the file of the training")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    size = arguments.target.write_bytes(build(arguments.weights, arguments.trained))
    print(f"{arguments.target}: {size} bytes")


if __name__ == "__main__":
    main()
