import pytest

from ecphoria.models.onnx import LocalEmbedder
from ecphoria.models.weights import Weights, find_weights


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    found = find_weights(cache_dir=tmp_path_factory.mktemp("no-cache"))
    assert found is not None, "make setup installs the encoder's weights"
    return found


@pytest.fixture(scope="session")
def encoder(weights: Weights) -> LocalEmbedder:
    return LocalEmbedder(weights, threads=2)
