"""All errors of Ecphoria, grouped by what the caller can do about them.

```
EcphoriaError
├── InvalidInput            the caller sent something unusable; says what to send instead
│   ├── UnknownStrategy     no such recall strategy
│   ├── BadVector           wrong dimension, not finite, or zero
│   └── BadFile             a file to import cannot be read; names the record
├── Unauthenticated         no key, or a key nobody issued
├── Forbidden               the key lacks the scope
├── NotFound                no such thing in this tenant
├── Conflict                the stored data do not allow it
├── Erased                  an episode of this idempotency key was erased
├── TooLarge                over a stated bound
├── UnsupportedMediaType    the body is not JSON in UTF-8
├── MethodNotAllowed        the path has other methods
├── UnknownHost             the request is for a host name that is not the service's
├── TooManyRequests         over a limit of the tenant or the key; wait
├── Unavailable             something the request needs is not there now; retry later
│   ├── StoreUnavailable    Neo4j does not answer
│   ├── OutcomeUnknown      Neo4j did not say whether it wrote; send the same again
│   ├── Timeout             the store took longer than allowed
│   ├── EncoderUnavailable  the embedder cannot be loaded or does not answer
│   ├── EmbedderChanged     the store has another embedding model now
│   ├── ModelUnavailable    the language model does not answer, or not usably
│   └── ArchiveUnavailable  the archive's folder is full or cannot be used
├── ModelMissing            the call needs a language model, and none is set
├── ArchiveDamaged          an archived record is missing or not as it was written
├── Misconfigured           start-up refuses; the operator must change something
│   ├── StoreUnsuitable     Neo4j is too old or lacks a feature
│   ├── EmbedderMismatch    the store has vectors of another model
│   └── WeightsMismatch     the model's files are not the ones expected
└── EngineError             the managed local Neo4j cannot be assembled or started
```

The first paragraph of each class's docstring is its default message; fields carry the rest.
Errors know nothing of HTTP: `ecphoria.http.problems` maps them.
"""

import inspect
from collections.abc import Mapping
from typing import ClassVar

ErrorField = str | int | float | bool | tuple[str, ...] | None


class EcphoriaError(Exception):
    """Something went wrong inside Ecphoria; the service log has the request id."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str | None = None, **fields: ErrorField) -> None:
        first = inspect.cleandoc(type(self).__doc__ or "").split("\n\n", 1)[0]
        self.message = message or " ".join(first.split())
        self.fields: Mapping[str, ErrorField] = fields
        super().__init__(self.message)


class InvalidInput(EcphoriaError):
    """The request cannot be used as it is; the detail says which field to change and how."""

    code = "invalid-input"


class UnknownStrategy(InvalidInput):
    """There is no such recall strategy; send one of the listed names."""

    code = "unknown-strategy"


class BadVector(InvalidInput):
    """The vector must have the store's dimension, finite numbers and a length above zero."""

    code = "bad-vector"


class BadFile(InvalidInput):
    """The file cannot be read; mend the named record and send it again."""

    code = "bad-file"


class Unauthenticated(EcphoriaError):
    """Send a valid API key as `Authorization: Bearer KEY`."""

    code = "unauthenticated"


class Forbidden(EcphoriaError):
    """The API key lacks the scope this call needs; ask an admin for a key that has it."""

    code = "forbidden"


class NotFound(EcphoriaError):
    """There is nothing with this id in this tenant."""

    code = "not-found"


class Conflict(EcphoriaError):
    """The stored data do not allow this. The detail gives the reason and the remedy."""

    code = "conflict"


class Erased(EcphoriaError):
    """The episode of this idempotency key was erased; send a new key to store one again."""

    code = "erased"


class TooLarge(EcphoriaError):
    """The request is over a stated bound; send less, or in several calls."""

    code = "too-large"


class UnsupportedMediaType(EcphoriaError):
    """Send the body as JSON in UTF-8, with the header `Content-Type: application/json`."""

    code = "unsupported-media-type"


class MethodNotAllowed(EcphoriaError):
    """This path does not take that method; the header `Allow` lists the methods it takes."""

    code = "method-not-allowed"


class UnknownHost(EcphoriaError):
    """The service has no such host name; add it to ECPHORIA_SERVER__PUBLIC_HOST."""

    code = "unknown-host"


class TooManyRequests(EcphoriaError):
    """Too many requests of this tenant or key; wait as long as `Retry-After` says."""

    code = "too-many-requests"


class Unavailable(EcphoriaError):
    """Something this request needs does not answer now; try again shortly."""

    code = "unavailable"


class StoreUnavailable(Unavailable):
    """Neo4j does not answer; nothing was written. Try again shortly, or see `ecphoria status`."""

    code = "store-unavailable"


class OutcomeUnknown(Unavailable):
    """Neo4j did not confirm the write; it may be stored. Send it again with the same key.

    A repeated append with the same idempotency key, or with the same date and content, is stored
    once.
    """

    code = "outcome-unknown"


class Timeout(Unavailable):
    """The store took longer than allowed and the query was stopped; nothing was written. Retry."""

    code = "timeout"


class EncoderUnavailable(Unavailable):
    """The embedder cannot be loaded or does not answer; send vectors, or see its setting."""

    code = "encoder-unavailable"


class EmbedderChanged(Unavailable):
    """The store has changed its embedding model; try again, or restart with the new setting."""

    code = "embedder-changed"


class ModelUnavailable(Unavailable):
    """The language model does not answer, or not usably; try again shortly."""

    code = "model-unavailable"


class ModelMissing(EcphoriaError):
    """This call needs a language model; set ECPHORIA_LLM__MODEL and ECPHORIA_LLM__BASE_URL."""

    code = "model-missing"


class ArchiveUnavailable(Unavailable):
    """The archive cannot be used: free space, or check the folder or bucket of its services."""

    code = "archive-unavailable"


class ArchiveDamaged(EcphoriaError):
    """An archived record is missing or damaged; put its file back, or delete the episode."""

    code = "archive-damaged"


class Misconfigured(EcphoriaError):
    """The service cannot start with these settings; the detail says what to change."""

    code = "misconfigured"


class StoreUnsuitable(Misconfigured):
    """This Neo4j server lacks something Ecphoria needs; the detail lists what and the remedy."""

    code = "store-unsuitable"


class EmbedderMismatch(Misconfigured):
    """The store has vectors of another model; set that model, then run `ecphoria reembed`."""

    code = "embedder-mismatch"


class WeightsMismatch(Misconfigured):
    """The model's files are not the expected ones, so their vectors would silently be wrong."""

    code = "weights-mismatch"


class EngineError(EcphoriaError):
    """The managed local Neo4j cannot be assembled or started; the detail says what to do."""

    code = "engine"


def unusable_place(error: BaseException) -> Misconfigured | None:
    """Tell that a file or a folder cannot be used; None if the error is of another kind."""
    if not isinstance(error, OSError) or error.filename is None:
        return None
    told = Misconfigured(f"Cannot use {error.filename}: {error.strerror}; choose another place.")
    told.__cause__ = error
    return told


def install(*extras: str) -> str:
    """Tell how to install extras, for the message of an error; the package is in no index yet.

    >>> install("server", "local")
    'run pip install ".[server,local]" in a checkout'
    """
    return f'run pip install ".[{",".join(extras)}]" in a checkout'
