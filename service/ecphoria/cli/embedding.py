"""The command that changes the embedding model of a store."""

from typing import Annotated

import typer
from rich.markup import escape

from ecphoria.cli.connection import Caller, answering, saying
from ecphoria.cli.progress import counting
from ecphoria.cli.terminal import stderr, stdout
from ecphoria.client import Client
from ecphoria.records.embedding import Provider, Reembedding, ReembeddingState

commands = typer.Typer(add_completion=False)


def _draw(found: Reembedding) -> None:
    stdout().print(_told(found))


@commands.command()
@saying("The change goes on; --status shows it, --cancel ends it.")
@answering(
    _draw, fails=lambda found: found.state is ReembeddingState.FAILED, caller=Caller.OPERATOR
)
def reembed(
    client: Client,
    *,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the model to change to.")
    ] = None,
    provider: Annotated[
        Provider, typer.Option(help="Maker of the vectors; `openai` is any endpoint with its API.")
    ] = "openai",
    dimension: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Length of the vectors; needed for `openai`."),
    ] = None,
    request_dimension: Annotated[
        bool, typer.Option("--request-dimension", help="Ask the endpoint for this dimension.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Address of the endpoint. Default: as the service is set."
        ),
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Show how far the change is.")] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel the change before the switch.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Follow the change until it has ended.")
    ] = True,
) -> Reembedding:
    """Change the embedding model of the whole store while it is in use."""
    if sum((model is not None, status, cancel)) != 1:
        raise typer.BadParameter("give one of --model, --status and --cancel.")
    if status:
        return client.embedding_change()
    if cancel:
        found = client.cancel_embedding_change()
    else:
        assert model is not None, "one of the three is given"
        found = client.change_embedding(
            model,
            provider=provider,
            dimension=dimension,
            request_dimension=request_dimension,
            base_url=base_url,
        )
    return _followed(client) if wait else found


def _followed(client: Client) -> Reembedding:
    """Wait for the end, and draw the progress; the change goes on if this is interrupted."""
    with counting(stderr()) as progress:
        drawn = progress.add_task("starting", total=None)

        def watch(found: Reembedding) -> None:
            progress.update(
                drawn,
                description=escape(found.message or found.state.value),
                completed=found.done,
                total=found.total or None,
            )

        return client.wait_for_embedding(watch=watch)


def _told(found: Reembedding) -> str:
    name = f"[bold]{escape(found.model)}[/bold] ({found.dimension} dimensions)"
    lines = [f"{name}: {found.state}, {found.done:,} of {found.total:,} vectors"]
    if found.eta_s is not None:
        lines.append(f"about {found.eta_s:,.0f} s until the switch")
    if found.message:
        lines.append(escape(found.message))
    if found.switched_at is not None:
        lines.append(
            f"The store uses it. Set ECPHORIA_EMBEDDER__MODEL={escape(found.model)}, "
            f"__PROVIDER={found.provider} and __DIMENSION={found.dimension} before the next start "
            "of a service."
        )
    return "\n".join(lines)
