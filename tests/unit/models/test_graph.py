import importlib.util
from importlib import resources
from pathlib import Path

from ecphoria.models.weights import Weights

SCRIPT = Path(__file__).parents[3] / "scripts" / "build_encoder_graph.py"


def test_committed_graph_is_what_the_script_builds(weights: Weights) -> None:
    spec = importlib.util.spec_from_file_location("build_encoder_graph", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    committed = resources.files("ecphoria.models").joinpath("minilm.onnx").read_bytes()
    assert script.build(weights.model) == committed
