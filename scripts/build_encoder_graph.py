"""Write the ONNX graph of all-MiniLM-L6-v2, whose weights stay in the model's own file.

Run by a maintainer when the graph or the opset changes; needs the `onnx` package, not torch:

    python scripts/build_encoder_graph.py PATH/TO/model.safetensors

Every initializer is external data: its name, shape and offset are read from the header of
`model.safetensors`, so the graph is a few kilobytes and no weight is copied or converted.
Only standard operators of opset 20 are used. The architecture is BERT (Devlin et al. 2019)
with 6 layers, mean pooling and unit length, as the model's `config.json` and `modules.json`
describe it.
"""

import argparse
import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path

import onnx
from onnx import TensorProto, helper

OPSET = 20
IR_VERSION = 10
LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12
MASKED = -1e9  # added to the score of a padded token; exp() of it is exactly 0 in float32

TARGET = Path(__file__).parents[1] / "service" / "ecphoria" / "models" / "minilm.onnx"


class GraphBuilder:
    """Collects nodes in order; each call names its output after the step that made it."""

    def __init__(self, weights: Mapping[str, onnx.TensorProto]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self._weights = weights

    def weight(self, name: str) -> str:
        """Use a tensor of the weights file."""
        self.initializers[name] = self._weights[name]
        return name

    def constant(self, name: str, kind: int, values: list[int] | list[float] | float) -> str:
        """Keep a small tensor inside the graph: a list is a vector, a number a scalar."""
        flat, dims = (values, [len(values)]) if isinstance(values, list) else ([values], [])
        self.initializers[name] = helper.make_tensor(name, kind, dims, flat)
        return name

    def add(
        self, operator: str, inputs: list[str], output: str, **attributes: float | list[int]
    ) -> str:
        """Append one node and return the name of its only output."""
        node = helper.make_node(operator, inputs, [output], name=output)
        node.attribute.extend(helper.make_attribute(*pair) for pair in attributes.items())
        self.nodes.append(node)
        return output


def external_tensors(weights: Path) -> dict[str, onnx.TensorProto]:
    """Describe each float32 tensor of a safetensors file as ONNX external data.

    The file is: header size as little-endian u64, JSON header, then the tensors; the header's
    offsets count from the end of the header.
    """
    with weights.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    base = 8 + size
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") != "F32":
            continue
        start, end = entry["data_offsets"]
        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=entry["shape"],
            data_location=TensorProto.EXTERNAL,
        )
        place = {"location": weights.name, "offset": base + start, "length": end - start}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        tensors[name] = tensor
    return tensors


def linear(graph: GraphBuilder, rows: str, layer: str, output: str) -> str:
    """Multiply [n, in] rows by a weight stored as [out, in], and add the bias."""
    weight, bias = graph.weight(f"{layer}.weight"), graph.weight(f"{layer}.bias")
    return graph.add("Gemm", [rows, weight, bias], output, transB=1)


def normalise(graph: GraphBuilder, rows: str, layer: str, output: str) -> str:
    """Give each row mean 0 and variance 1, then its learned scale and shift."""
    weight, bias = graph.weight(f"{layer}.weight"), graph.weight(f"{layer}.bias")
    return graph.add("LayerNormalization", [rows, weight, bias], output, axis=-1, epsilon=EPSILON)


def embed_tokens(graph: GraphBuilder) -> str:
    """Sum word, position and type-0 vectors of `ids` [batch, seq]: [batch, seq, width]."""
    zero = graph.constant("zero", TensorProto.INT64, 0)
    one = graph.constant("one", TensorProto.INT64, 1)
    table = graph.weight("embeddings.word_embeddings.weight")
    words = graph.add("Gather", [table, "ids"], "words")
    length = graph.add("Gather", ["ids_shape", one], "length")
    range_ = graph.add("Range", [zero, length, one], "range")
    places = graph.add(
        "Gather", [graph.weight("embeddings.position_embeddings.weight"), range_], "places"
    )
    kind = graph.add(
        "Gather", [graph.weight("embeddings.token_type_embeddings.weight"), zero], "kind"
    )
    placed = graph.add("Add", [places, kind], "placed")
    total = graph.add("Add", [words, placed], "embedded")
    return normalise(graph, total, "embeddings.LayerNorm", "embeddings")


def attend(graph: GraphBuilder, rows: str, layer: str) -> str:
    """Mix each text's tokens by softmax(q k' / sqrt(head width)), per head; rows stay flat."""
    source = f"encoder.{layer}.attention"
    heads = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        flat = linear(graph, rows, f"{source}.self.{part}", f"{layer}.{part}.rows")
        split = graph.add("Reshape", [flat, "heads_shape"], f"{layer}.{part}.split")
        heads[part] = graph.add("Transpose", [split], f"{layer}.{part}", perm=order)
    dots = graph.add("MatMul", [heads["query"], heads["key"]], f"{layer}.dots")
    scaled = graph.add("Mul", [dots, "scale"], f"{layer}.scaled")
    masked = graph.add("Add", [scaled, "penalty"], f"{layer}.masked")
    shares = graph.add("Softmax", [masked], f"{layer}.shares", axis=-1)
    mixed = graph.add("MatMul", [shares, heads["value"]], f"{layer}.mixed")
    joined = graph.add("Transpose", [mixed], f"{layer}.joined", perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", [joined, "rows_shape"], f"{layer}.context")
    out = linear(graph, flat, f"{source}.output.dense", f"{layer}.attended")
    added = graph.add("Add", [out, rows], f"{layer}.attention.sum")
    return normalise(graph, added, f"{source}.output.LayerNorm", f"{layer}.attention")


def feed_forward(graph: GraphBuilder, rows: str, layer: str) -> str:
    """Widen each row fourfold, apply the exact Gelu, narrow it, and add it to itself."""
    source = f"encoder.{layer}"
    wide = linear(graph, rows, f"{source}.intermediate.dense", f"{layer}.wide")
    active = graph.add("Gelu", [wide], f"{layer}.active")
    narrow = linear(graph, active, f"{source}.output.dense", f"{layer}.narrow")
    added = graph.add("Add", [narrow, rows], f"{layer}.sum")
    return normalise(graph, added, f"{source}.output.LayerNorm", f"{layer}.rows")


def pool(graph: GraphBuilder, rows: str) -> str:
    """Sum each text's real tokens and scale to length 1 (the mean's divisor cancels)."""
    tokens_shape = graph.add(
        "Concat", ["ids_shape", graph.constant("width", TensorProto.INT64, [WIDTH])],
        "tokens_shape", axis=0,
    )  # fmt: skip
    tokens = graph.add("Reshape", [rows, tokens_shape], "tokens")
    axis = graph.constant("axis", TensorProto.INT64, [1])
    weights = graph.add("Unsqueeze", ["mask", axis], "token_weights")
    total = graph.add("MatMul", [weights, tokens], "token_sum")
    flat = graph.add("Squeeze", [total, axis], "text_sum")
    return graph.add("LpNormalization", [flat], "vectors", axis=-1, p=2)


def prepare_shapes(graph: GraphBuilder) -> None:
    """Compute once what every layer shares: the shapes, the scale and the mask's penalty."""
    graph.add("Shape", ["ids"], "ids_shape")
    split = graph.constant("split", TensorProto.INT64, [HEADS, WIDTH // HEADS])
    graph.add("Concat", ["ids_shape", split], "heads_shape", axis=0)
    graph.constant("rows_shape", TensorProto.INT64, [-1, WIDTH])
    graph.constant("scale", TensorProto.FLOAT, 1 / math.sqrt(WIDTH / HEADS))
    present = graph.constant("present", TensorProto.FLOAT, 1.0)
    masked = graph.constant("masked", TensorProto.FLOAT, MASKED)
    axes = graph.constant("axes", TensorProto.INT64, [1, 2])
    absent = graph.add("Sub", [present, "mask"], "absent")
    flat = graph.add("Mul", [absent, masked], "flat_penalty")
    graph.add("Unsqueeze", [flat, axes], "penalty")


def build(weights: Path) -> bytes:
    """Return the serialised model that takes `ids` and `mask` and gives unit `vectors`."""
    graph = GraphBuilder(external_tensors(weights))
    prepare_shapes(graph)
    rows = graph.add("Reshape", [embed_tokens(graph), "rows_shape"], "rows")
    for number in range(LAYERS):
        layer = f"layer.{number}"
        rows = feed_forward(graph, attend(graph, rows, layer), layer)
    output = pool(graph, rows)
    inputs = {"ids": TensorProto.INT64, "mask": TensorProto.FLOAT}
    return serialised(graph, "all-MiniLM-L6-v2", inputs, {output: ["batch", WIDTH]})


def serialised(
    graph: GraphBuilder,
    name: str,
    inputs: Mapping[str, int],
    outputs: Mapping[str, list[int | str]],
) -> bytes:
    """Write a graph; inputs, by name and type, are [batch, seq], outputs are real."""
    body = helper.make_graph(
        graph.nodes,
        name,
        [
            helper.make_tensor_value_info(one, kind, ["batch", "seq"])
            for one, kind in inputs.items()
        ],
        [
            helper.make_tensor_value_info(one, TensorProto.FLOAT, shape)
            for one, shape in outputs.items()
        ],
        list(graph.initializers.values()),
    )
    model = helper.make_model(
        body,
        ir_version=IR_VERSION,
        producer_name="ecphoria",
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    written: bytes = model.SerializeToString(deterministic=True)
    return written


def main() -> None:
    """Write the graph beside the module that loads it."""
    parser = argparse.ArgumentParser(description="Write the local encoder's ONNX graph.")
    parser.add_argument("weights", type=Path, help="the model.safetensors whose header is read")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    size = arguments.target.write_bytes(build(arguments.weights))
    print(f"{arguments.target}: {size} bytes")


if __name__ == "__main__":
    main()
