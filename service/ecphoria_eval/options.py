"""Options that evaluations share, and the service that they measure."""

import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ecphoria import runtime
from ecphoria.cli.connection import offering, option
from ecphoria.cli.progress import Watch, watching
from ecphoria.cli.terminal import if_interrupted
from ecphoria.client import AsyncClient
from ecphoria.client.defaults import admin_key, local_key
from ecphoria.errors import BadFile, Unauthenticated

if TYPE_CHECKING:
    from ecphoria.app import Services
    from ecphoria.settings import Settings
    from ecphoria_eval.datasets.dataset import Dataset
    from ecphoria_eval.run import Connect

T = TypeVar("T")

_TIMEOUT_S = 300.0
QUIET = {"level": "warning", "format": "brief"}
"""Settings of the log of an evaluation: problems only, one line each."""

Server = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Address of a running service. Default: start one here."
    ),
]
Key = Annotated[
    str | None,
    typer.Option("--key", envvar="ECPHORIA_API_KEY", metavar="KEY", help="An operator's key."),
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Home directory of the service started here, for its store and key.",
    ),
]
Data = Annotated[Path, typer.Option("--data", metavar="FILE", help="Data file or folder.")]
ManyData = Annotated[
    list[Path],
    typer.Option("--data", metavar="FILE", help="Data set of any known format; repeatable."),
]
Memories = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Memories to take of each conversation or pool. Default: all."
    ),
]
Judging = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Model at the endpoint of `ECPHORIA_LLM__BASE_URL` as judge."
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Prices of a million tokens, for the cost (JSON)."),
]
FromNamesOnly = Annotated[
    bool,
    typer.Option(
        "--names",
        help="Let the model answer from the names that the recall woke, with their descriptions,"
        " instead of from memories.",
    ),
]
Corpus = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File of passages, if the data does not contain them."),
]
OpenIE = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Names and facts that a model extracted (HippoRAG's format)."
    ),
]


class FactSource(StrEnum):
    """The source of the facts that are sent with a data set."""

    OBSERVATIONS = "observations"


StatedFacts = Annotated[
    FactSource | None,
    typer.Option(
        "--facts",
        help="Send the observations of the data as facts of the turns that they quote. A language"
        " model wrote them: it saw the conversation, not the questions.",
    ),
]
FactsNoise = Annotated[
    bool, typer.Option("--facts-noise", help="Move half of these facts to wrong turns.")
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME[:OPTION=VALUE,...]",
        help="Strategy to measure, with options if wanted: `cls:preset=paper`; repeatable.",
    ),
]
OneStrategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME[:OPTION=VALUE,...]",
        help="Strategy to measure. Default: the service's.",
    ),
]
Ablate = Annotated[
    bool,
    typer.Option(
        "--ablate",
        help="Also measure each named strategy (else the default) without each mechanism.",
    ),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="OPTION=VALUE,VALUE,...",
        help="Also measure each named strategy (else the default) with each value of an option:"
        " `steps=1,2,3`; repeatable, one option at a time.",
    ),
]
TakeOut = Annotated[
    bool,
    typer.Option(
        "--take-out", help="Ask the default again, with the evidence of each question erased."
    ),
]
Steps = Annotated[
    list[str] | None,
    typer.Option(
        "--step",
        metavar="NAME",
        help="Consolidate by this step only; repeatable; `none` skips consolidation.",
    ),
]
Questions = Annotated[
    int | None,
    typer.Option(
        "--questions", min=1, metavar="N", help="Number of questions to ask, evenly spread."
    ),
]
Misspell = Annotated[bool, typer.Option("--misspell", help="Misspell one word of each question.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Report file; rows and plots are written beside it."
    ),
]
ReportFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the report here, as JSON.")
]
ReportWithRows = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the report here, rows beside it."),
]
Rows = Annotated[
    Path | None, typer.Option("--rows", metavar="FILE", help="File of the rows, instead.")
]
Concurrency = Annotated[
    int, typer.Option(min=1, max=64, metavar="N", help="Number of questions asked at once.")
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the appended memories in the store.")]

_PLACE = (option("server", None, Server), option("key", None, Key), option("home", None, Home))


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The service to measure."""

    server: str | None
    key: str | None
    home: Path | None


def located(command: Callable[..., None]) -> Callable[..., None]:
    """Offer the options of a service to measure, and give it to a command in `where`."""

    def run(*, server: str | None, key: str | None, home: Path | None, **options: Any) -> None:
        command(where=Where(server=server, key=key, home=home), **options)

    own = [each for each in inspect.signature(command).parameters.values() if each.name != "where"]
    return offering(run, command, [*own, *_PLACE])


def some(dataset: "Dataset", questions: int | None, *, misspell: bool = False) -> "Dataset":
    """Keep so many questions, all if no number is given, and misspell a word of each if wanted.

    Raises:
        BadFile: There is no question.
    """
    from ecphoria_eval.datasets.dataset import sampled  # noqa: PLC0415 (costly)
    from ecphoria_eval.datasets.misspelling import misspelt  # noqa: PLC0415 (costly)

    if not dataset.questions:
        raise BadFile(f"{dataset.source} has no question to ask.")
    kept = dataset if questions is None else sampled(dataset, questions)
    return misspelt(kept) if misspell else kept


def on_service(work: "Callable[[Connect, Watch], Coroutine[Any, Any, T]]", where: Where) -> T:
    """Do the work on the service wanted, with a progress bar; give what it finds."""

    async def whole() -> T:
        async with _service(where) as connect:
            with watching() as watch:
                return await work(connect, watch)

    with if_interrupted(lambda: "Nothing goes on; tenants made here are erased unless kept."):
        return runtime.run(whole())


@contextlib.asynccontextmanager
async def _service(where: Where) -> "AsyncIterator[Connect]":
    if where.server is not None:
        yield _connector(where.server, where.key or local_key(where.server, where.home))
        return
    from ecphoria.cli.serve import running  # noqa: PLC0415 (extra `server`)

    settings = _settings(where.home)
    async with running(settings) as service:
        yield _connector(service.started.url, await _key(service.started.services, where))


async def _key(services: "Services", where: Where) -> str | None:
    """Find an operator's key; one in the environment may be for another service than ours."""
    bootstrap = services.settings.auth.bootstrap_key
    own = bootstrap.get_secret_value() if bootstrap else admin_key(services.settings.home)
    for key in (own, where.key):
        with contextlib.suppress(Unauthenticated):
            if key and (await services.access.identify(key)).tenant is None:
                return key
    return own


def _connector(url: str, key: str | None) -> "Connect":
    return lambda tenant: AsyncClient(url, key or "", tenant=tenant, timeout=_TIMEOUT_S)


def _settings(home: Path | None) -> "Settings":
    """Keep evaluations out of the user's own store, unless the settings name a server."""
    from ecphoria.settings import read_settings  # noqa: PLC0415 (extra `server`)

    # Records of the service stand beside the progress, so they are short and few.
    quiet = {"server": {"port": 0}, "log": QUIET}
    # A cycle that runs by itself would change what is measured.
    quiet["consolidation"] = {"light_episodes": 0}
    return read_settings(**quiet, home=home or read_settings().cache / "evaluation")
