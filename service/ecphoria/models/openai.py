"""Embeddings and chat from a server that speaks the OpenAI API."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from httpx import AsyncBaseTransport, AsyncClient, HTTPError
from numpy.typing import NDArray
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit, OpenAIError, omit
from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import ResponseFormat
from pydantic import BaseModel, Field, ValidationError

from ecphoria.errors import EncoderUnavailable, InvalidInput, Misconfigured
from ecphoria.models.cassette import REFUSED_TEXTS, Unrecorded
from ecphoria.ports import Form, JsonSchema, NoAnswer, Reply, TextRefused
from ecphoria.runtime import require_encodable


class Item(BaseModel, hide_input_in_errors=True):
    """The vector of the text at `index` of the request."""

    index: int
    embedding: list[float]


class Answer(BaseModel, hide_input_in_errors=True):
    """The fields of an answer that are read; some compatible servers omit the others."""

    data: list[Item]


class OpenAIEmbedder:
    """Sends texts in batches and gives their vectors length 1, whatever the endpoint gives.

    What an endpoint says about a failure is not passed on: it may quote the texts.
    """

    def __init__(
        self,
        model: str,
        *,
        dimension: int,
        base_url: str,
        api_key: str | None = None,
        request_dimension: bool = False,
        batch_size: int = 256,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        """Connect to nothing yet.

        Args:
            model: The endpoint's name of the model, kept beside the vectors.
            dimension: Numbers of a vector; another count in an answer is refused.
            base_url: The address up to and without `/embeddings`.
            api_key: Sent as bearer token; servers on the own machine often need none.
            request_dimension: Ask for this dimension, for models that can shorten vectors.
            batch_size: Texts of one request.
            timeout: Seconds to wait for one answer.
            retries: Further attempts after a timeout, a lost connection, a 429 or a 5xx.
        """
        self._model = model
        self._dimension = dimension
        self._request_dimension = request_dimension
        self._batch_size = batch_size
        self._client = AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=retries
        )

    @property
    def model(self) -> str:
        """The name that a store keeps beside its vectors."""
        return self._model

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts.

        Raises:
            InvalidInput: A text holds a lone surrogate, or the endpoint refuses the texts.
            EncoderUnavailable: The endpoint does not answer, or not with usable vectors.
            Misconfigured: Its vectors have another dimension.
        """
        require_encodable(texts)
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            vectors[start : start + len(batch)] = self._unit_rows(await self._request(batch))
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _request(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            response = await self._client.embeddings.with_raw_response.create(
                model=self._model,
                input=[text or " " for text in texts],  # the API refuses an empty text
                dimensions=self._dimension if self._request_dimension else omit,
                encoding_format="float",
            )
            answer = Answer.model_validate_json(response.content)
        except APIStatusError as error:
            raise self._refusal(error.status_code) from None  # its body may quote the texts
        except APIConnectionError as error:
            raise EncoderUnavailable(
                "The embedding endpoint does not answer; try again, or check its address."
            ) from error
        except (OpenAIError, ValidationError) as error:
            raise EncoderUnavailable(
                "The embedding endpoint answers something else than vectors; check its address."
            ) from error
        rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        if len(rows) != len(texts):
            raise EncoderUnavailable(
                f"The embedding endpoint gave {len(rows)} vectors for {len(texts)} texts."
            )
        return rows

    def _refusal(self, status: int) -> InvalidInput | EncoderUnavailable:
        if status in REFUSED_TEXTS:
            return InvalidInput(
                f"The embedding endpoint refused the texts (HTTP {status}); they may be longer "
                f"than {self._model} takes.",
                status=status,
            )
        return EncoderUnavailable(
            f"The embedding endpoint answered HTTP {status}; check its key, its model and its "
            "limits.",
            status=status,
        )

    def _unit_rows(self, rows: list[list[float]]) -> NDArray[np.float32]:
        if {len(row) for row in rows} != {self._dimension}:
            raise Misconfigured(
                f"{self._model} gives vectors of {len(rows[0])} numbers, the setting says "
                f"{self._dimension}; set the dimension to what the model gives.",
                dimension=len(rows[0]),
            )
        values = np.asarray(rows, dtype=np.float64)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise EncoderUnavailable("The embedding endpoint gave a vector without direction.")
        return np.asarray(values / lengths, dtype=np.float32)


Counted = Callable[[str, str, int], None]
"""Told the purpose, `read` or `written`, and how many tokens."""


class _Message(BaseModel, hide_input_in_errors=True):
    content: str


class _Choice(BaseModel, hide_input_in_errors=True):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel, hide_input_in_errors=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Answer(BaseModel, hide_input_in_errors=True):
    """The fields of an answer that are read; some compatible servers omit the others."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Delta(BaseModel, hide_input_in_errors=True):
    content: str | None = None


class _PartOfChoice(BaseModel, hide_input_in_errors=True):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Part(BaseModel, hide_input_in_errors=True):
    """The fields of a piece of a streamed answer that are read."""

    choices: list[_PartOfChoice] = []
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer, read as a whole or in pieces."""

    text: str
    usage: _Usage
    finish_reason: str | None
    streamed: bool = False


class OpenAIChat:
    """Sends one message at a time; implements `ports.Chat`.

    Neither temperature nor a limit of tokens is sent: there are models that refuse either.
    What an endpoint says about a failure is not passed on: it may quote the text.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        counted: Counted = lambda _purpose, _direction, _tokens: None,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            model: The endpoint's name of the model.
            base_url: The address up to and without `/chat/completions`.
            api_key: Sent as bearer token; servers on the own machine often need none.
            timeout: Seconds to wait for one answer.
            retries: Further attempts after a timeout, a lost connection, a 429 or a 5xx.
            counted: Told the tokens of each answer, as the endpoint counts them.
            transport: Sends the requests; None for the usual one.
        """
        self._model = model
        self._counted = counted
        self._streams = True
        # From version 3 on, the package's types name its own copy of httpx; it takes either.
        sender: Any = None if transport is None else AsyncClient(transport=transport)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=timeout,
            max_retries=retries,
            http_client=sender,
        )

    @property
    def model(self) -> str:
        """Its name."""
        return self._model

    async def ask(
        self,
        purpose: str,
        instruction: str,
        text: str,
        *,
        form: Form = Form.TEXT,
        schema: JsonSchema | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> Reply:
        """Ask it, for a purpose that is counted."""
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ]
        wanted = _response_format(form, schema)
        try:
            if heard is None or not self._streams:
                said = await self._whole(messages, wanted)
            else:
                said = await self._streamed(messages, wanted, heard)
        except APIStatusError as error:
            raise _refusal(error.status_code) from None  # its body may quote the text
        except APIConnectionError as error:
            if isinstance(error.__cause__, Unrecorded):
                raise NoAnswer(str(error.__cause__)) from error
            raise NoAnswer("the model's endpoint does not answer; check its address") from error
        except (OpenAIError, ValidationError, HTTPError) as error:
            raise NoAnswer(
                "the model's endpoint answers something else than text; check its address"
            ) from error
        self._counted(purpose, "read", said.usage.prompt_tokens)
        self._counted(purpose, "written", said.usage.completion_tokens)
        if heard is not None and not said.streamed:
            heard(said.text)
        return Reply(
            text=said.text,
            tokens=said.usage.prompt_tokens + said.usage.completion_tokens,
            is_cut=said.finish_reason == "length",
        )

    async def _whole(
        self, messages: list[ChatCompletionMessageParam], wanted: ResponseFormat | Omit
    ) -> _Said:
        response = await self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=messages, response_format=wanted
        )
        answer = _Answer.model_validate_json(response.content)
        choice = answer.choices[0]
        return _Said(choice.message.content, answer.usage or _Usage(), choice.finish_reason)

    async def _streamed(
        self,
        messages: list[ChatCompletionMessageParam],
        wanted: ResponseFormat | Omit,
        heard: Callable[[str], None],
    ) -> _Said:
        """Ask for a stream; an endpoint that refuses it is asked for the whole from now on."""
        try:
            stream = await self._client.chat.completions.create(
                model=self._model,
                messages=messages,
                response_format=wanted,
                stream=True,
                stream_options={"include_usage": True},
            )
        except APIStatusError as error:
            if error.status_code not in REFUSED_TEXTS:
                raise
            said = await self._whole(messages, wanted)  # raises too where the text is at fault
            self._streams = False
            return said
        pieces: list[str] = []
        usage, finish = _Usage(), None
        async with stream:
            async for event in stream:
                part = _Part.model_validate(event.model_dump(warnings=False))
                usage = part.usage or usage
                for choice in part.choices[:1]:
                    finish = choice.finish_reason or finish
                    if choice.delta.content:
                        pieces.append(choice.delta.content)
                        heard(choice.delta.content)
        if not pieces:
            raise OpenAIError("a stream without text")
        return _Said("".join(pieces), usage, finish, streamed=True)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _response_format(form: Form, schema: JsonSchema | None) -> ResponseFormat | Omit:
    if form is Form.JSON:
        return {"type": "json_object"}
    if form is Form.SCHEMA and schema is not None:
        content = dict(schema.schema)
        return {
            "type": "json_schema",
            "json_schema": {"name": schema.name, "schema": content, "strict": True},
        }
    return omit


def _refusal(status: int) -> NoAnswer | TextRefused:
    if status in REFUSED_TEXTS:
        return TextRefused(f"the model's endpoint refused a text (HTTP {status})")
    return NoAnswer(
        f"the model's endpoint answered HTTP {status}; check its key, its model and its limits"
    )
