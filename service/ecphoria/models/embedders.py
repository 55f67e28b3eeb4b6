"""Choose an embedder by the settings, and cache its vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from ecphoria.errors import EncoderUnavailable, InvalidInput, Misconfigured, install
from ecphoria.models.weights import MODEL, MULTILINGUAL, FetchReport, obtain_weights, silent
from ecphoria.ports import Embedder, Reader, TextsNotEmbedded
from ecphoria.runtime import Bounded
from ecphoria.settings import OPENAI_URL, EmbedderSettings

log = structlog.get_logger(__name__)

# Stored texts that no endpoint can encode get this text's vector: ranking, associations and the
# gate expect one of each episode (decision 0046).
_NEUTRAL = "."


async def embed_all(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts of what is stored already: a text that cannot be embedded gets a neutral vector.

    It is then found by its words and its connections, and not by its meaning.

    Raises:
        EncoderUnavailable: The endpoint does not answer, or not even for the neutral text.
    """
    try:
        return await embedder.embed(texts)
    except TextsNotEmbedded as some:
        found = some
    except (InvalidInput, EncoderUnavailable):
        if len(texts) != 1:
            raise
        # A single text has no other one to be compared with.
        try:
            return (await embedder.embed([*texts, _NEUTRAL]))[:1]
        except TextsNotEmbedded as some:
            if len(some.faults) > 1 or 0 not in some.faults:
                raise
            found = some
    log.warning("texts_not_embedded", texts=len(found.faults))
    vectors = found.vectors[: len(texts)].copy()
    vectors[[place for place in found.faults if place < len(texts)]] = await embedder.embed(
        [_NEUTRAL]
    )
    return vectors


def create_embedder(
    settings: EmbedderSettings, cache: Path, *, report: FetchReport = silent
) -> Embedder:
    """Load the chosen embedder; blocks, and the first time may fetch the weights.

    Args:
        settings: The choice; each provider ignores the settings of others.
        cache: Folder of fetched weights.
        report: Told bytes done and in all while weights are fetched.

    Raises:
        Misconfigured: An extra is not installed, or the settings contradict each other.
        EncoderUnavailable: The model cannot be fetched or loaded.
        WeightsMismatch: The local model's files are not the expected ones.
    """
    match settings.provider:
        case "local":
            embedder = _local(settings, cache, report)
        case "sentence-transformers":
            embedder = _sentence_transformers(settings)
        case "openai":
            return _openai(settings)
    if settings.dimension not in {None, embedder.dimension}:
        raise Misconfigured(
            f"{embedder.model} gives vectors of {embedder.dimension} numbers, the setting says "
            f"{settings.dimension}; leave the dimension out.",
            dimension=embedder.dimension,
        )
    return embedder


def _local(settings: EmbedderSettings, cache: Path, report: FetchReport) -> Embedder:
    name = settings.model.removeprefix("sentence-transformers/")
    if name == MODEL:
        with _extra("encoder"):
            from ecphoria.models.onnx import LocalEmbedder  # noqa: PLC0415 - optional extra
        found = obtain_weights(cache_dir=cache, weights_dir=settings.weights_dir, report=report)
        return LocalEmbedder(found, threads=settings.threads)
    if name == MULTILINGUAL:
        with _extra("multilingual"):
            from ecphoria.models.multilingual import MultilingualEmbedder  # noqa: PLC0415 - optional extra
        return MultilingualEmbedder(threads=settings.threads)
    raise Misconfigured(
        f"The local embedder has only {MODEL} and {MULTILINGUAL}; for {settings.model} set the "
        "provider to sentence-transformers or openai.",
        model=settings.model,
    )


def _sentence_transformers(settings: EmbedderSettings) -> Embedder:
    with _extra("sentence-transformers"):
        from ecphoria.models.sentence_transformers import SentenceTransformersEmbedder  # noqa: PLC0415 - optional extra
    return SentenceTransformersEmbedder(
        settings.model, weights_dir=settings.weights_dir, threads=settings.threads
    )


def _openai(settings: EmbedderSettings) -> Embedder:
    with _extra("server"):
        from ecphoria.models.openai import OpenAIEmbedder  # noqa: PLC0415 - optional extra
    if settings.dimension is None:
        raise Misconfigured(
            f"Set the embedder's dimension to the length of the vectors of {settings.model}.",
            setting="dimension",
        )
    if settings.api_key is None and settings.base_url == OPENAI_URL:
        raise Misconfigured("Set the embedder's API key, or its base URL.", setting="api_key")
    return OpenAIEmbedder(
        settings.model,
        dimension=settings.dimension,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        request_dimension=settings.request_dimension,
        batch_size=settings.batch_size,
        timeout=settings.timeout_s,
        retries=settings.retries,
    )


def create_reader(embedder: Embedder) -> Reader | None:
    """Prepare the reader of the default local model; other embedders have none."""
    if embedder.model != MODEL:
        return None
    try:
        from ecphoria.models.onnx import LocalEmbedder  # noqa: PLC0415 - optional extra
        from ecphoria.models.reader import CrossEncoder  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError:
        return None
    if not isinstance(embedder, LocalEmbedder):
        return None
    return CrossEncoder(embedder.weights, threads=embedder.threads)


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Tell which extra to install where a module is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"This embedder needs {error.name}, which is not installed: {install(name)}",
            extra=name,
        ) from error


class CachingEmbedder:
    """Answers single texts from the last `capacity` ones; longer requests pass through.

    It keeps hashes, not texts. Vectors of single texts are read-only, as they are shared.
    """

    def __init__(self, embedder: Embedder, *, capacity: int = 1_000) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension
        self._embedder = embedder
        self._vectors = Bounded[bytes, NDArray[np.float32]](capacity)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts."""
        if len(texts) != 1:
            return await self._embedder.embed(texts)
        key = blake2b(texts[0].encode(errors="surrogatepass"), digest_size=16).digest()
        if (known := self._vectors.get(key)) is not None:
            self._vectors.touch(key)
            return known
        vectors = await self._embedder.embed(texts)
        vectors.setflags(write=False)
        self._vectors[key] = vectors
        return vectors

    async def close(self) -> None:
        """Close the embedder behind."""
        await self._embedder.close()
