"""Choose an embedder by options, and cache its vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
import structlog
from numpy.typing import NDArray

from ecphoria.errors import EncoderUnavailable, InvalidInput, Misconfigured
from ecphoria.models.weights import MODEL, MULTILINGUAL, FetchReport, obtain_weights, silent
from ecphoria.ports import Embedder, TextsNotEmbedded
from ecphoria.runtime import Bounded

log = structlog.get_logger(__name__)

Provider = Literal["local", "sentence-transformers", "openai"]
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOptions:
    """Options of the embedder; each provider ignores those of others.

    Attributes:
        provider: Where vectors are made.
        model: Its name, kept beside the vectors; the local provider has the default and
            `use-multilingual-v3`.
        cache_dir: Where fetched weights are kept (local).
        weights_dir: Folder of the model's files, the only place to look at (the default model,
            sentence-transformers).
        threads: Cores to use; all by default (local, sentence-transformers).
        dimension: Numbers of a vector; needed by `openai`, checked for the others.
        request_dimension: Ask the endpoint for this dimension (openai).
        base_url: Address up to and without `/embeddings` (openai).
        api_key: Sent as bearer token (openai).
        batch_size: Texts of one request (openai).
        timeout: Seconds to wait for one answer (openai).
        retries: Further attempts after a failure that may pass (openai).
    """

    cache_dir: Path
    provider: Provider = "local"
    model: str = MODEL
    weights_dir: Path | None = None
    threads: int | None = None
    dimension: int | None = None
    request_dimension: bool = False
    base_url: str = OPENAI_URL
    api_key: str | None = field(default=None, repr=False)
    batch_size: int = 256
    timeout: float = 30.0
    retries: int = 3


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


def create_embedder(options: EmbedderOptions, *, report: FetchReport = silent) -> Embedder:
    """Load the chosen embedder; blocks, and the first time may fetch the weights.

    Args:
        options: What the settings say.
        report: Told bytes done and in all while weights are fetched.

    Raises:
        Misconfigured: An extra is not installed, or the options contradict each other.
        EncoderUnavailable: The model cannot be fetched or loaded.
        WeightsMismatch: The local model's files are not the expected ones.
    """
    match options.provider:
        case "local":
            embedder = _local(options, report)
        case "sentence-transformers":
            embedder = _sentence_transformers(options)
        case "openai":
            return _openai(options)
    if options.dimension not in {None, embedder.dimension}:
        raise Misconfigured(
            f"{embedder.model} gives vectors of {embedder.dimension} numbers, the setting says "
            f"{options.dimension}; leave the dimension out.",
            dimension=embedder.dimension,
        )
    return embedder


def _local(options: EmbedderOptions, report: FetchReport) -> Embedder:
    name = options.model.removeprefix("sentence-transformers/")
    if name == MODEL:
        return _minilm(options, report)
    if name == MULTILINGUAL:
        return _multilingual(options)
    raise Misconfigured(
        f"The local embedder has only {MODEL} and {MULTILINGUAL}; for {options.model} set the "
        "provider to sentence-transformers or openai.",
        model=options.model,
    )


def _minilm(options: EmbedderOptions, report: FetchReport) -> Embedder:
    try:
        from ecphoria.models.onnx import LocalEmbedder  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        raise _missing("encoder", error) from error
    found = obtain_weights(
        cache_dir=options.cache_dir, weights_dir=options.weights_dir, report=report
    )
    return LocalEmbedder(found, threads=options.threads)


def _multilingual(options: EmbedderOptions) -> Embedder:
    try:
        from ecphoria.models.multilingual import MultilingualEmbedder  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        raise _missing("multilingual", error) from error
    return MultilingualEmbedder(threads=options.threads)


def _sentence_transformers(options: EmbedderOptions) -> Embedder:
    try:
        from ecphoria.models.sentence_transformers import SentenceTransformersEmbedder  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        raise _missing("sentence-transformers", error) from error
    return SentenceTransformersEmbedder(
        options.model, weights_dir=options.weights_dir, threads=options.threads
    )


def _openai(options: EmbedderOptions) -> Embedder:
    try:
        from ecphoria.models.openai import OpenAIEmbedder  # noqa: PLC0415 - optional extra
    except ModuleNotFoundError as error:
        raise _missing("server", error) from error
    if options.dimension is None:
        raise Misconfigured(
            f"Set the embedder's dimension to the length of the vectors of {options.model}.",
            setting="dimension",
        )
    if options.api_key is None and options.base_url == OPENAI_URL:
        raise Misconfigured("Set the embedder's API key, or its base URL.", setting="api_key")
    return OpenAIEmbedder(
        options.model,
        dimension=options.dimension,
        base_url=options.base_url,
        api_key=options.api_key,
        request_dimension=options.request_dimension,
        batch_size=options.batch_size,
        timeout=options.timeout,
        retries=options.retries,
    )


def _missing(extra: str, error: ModuleNotFoundError) -> Misconfigured:
    return Misconfigured(
        f"This embedder needs {error.name}, which is not installed: "
        f'pip install "ecphoria[{extra}]"',
        extra=extra,
    )


class CachingEmbedder:
    """Answers single texts from the last `capacity` ones; longer requests pass through.

    It keeps hashes, not texts. Vectors of single texts are read-only, as they are shared.

    Attributes:
        hits: Answers given without the embedder behind.
    """

    def __init__(self, embedder: Embedder, *, capacity: int = 1_000) -> None:
        self.hits = 0
        self._embedder = embedder
        self._vectors = Bounded[bytes, NDArray[np.float32]](capacity)

    @property
    def model(self) -> str:
        """The name of the model behind."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts."""
        if len(texts) != 1:
            return await self._embedder.embed(texts)
        key = blake2b(texts[0].encode(errors="surrogatepass"), digest_size=16).digest()
        if (known := self._vectors.get(key)) is not None:
            self.hits += 1
            self._vectors.touch(key)
            return known
        vectors = await self._embedder.embed(texts)
        vectors.setflags(write=False)
        self._vectors[key] = vectors
        return vectors

    async def close(self) -> None:
        """Close the embedder behind."""
        await self._embedder.close()
