"""The FastAPI application over services that are already up."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from ecphoria.api import (
    administration,
    archive,
    browser,
    cold,
    consolidation,
    doctor,
    dormancy,
    edge,
    episodes,
    facts,
    gate,
    jobs,
    learning,
    merges,
    operations,
    passages,
    problems,
    shadow,
)
from ecphoria.api import recall as recalling
from ecphoria.wire.problem import Problem
from ecphoria.wiring import Services

__all__ = ["create_app"]

_DESCRIPTION = """\
A memory service for agents: append what happened, recall it by a cue.

Send an API key as `Authorization: Bearer KEY`. With an operator's key, name the tenant in the
header `Ecphoria-Tenant`. Every error is a problem document (RFC 9457) whose `type` is a path of
this service that explains it.
"""
_SWAGGER = "/docs/assets"


def create_app(services: Services) -> FastAPI:
    """Join routers, problems and middleware; the caller closes the services."""
    app = FastAPI(
        title="Ecphoria",
        version=version("ecphoria"),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
        separate_input_output_schemas=False,
        # Its own spans quote addresses whole, and sessions and names stand there.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.services = services
    for area in (
        episodes,
        recalling,
        archive,
        facts,
        consolidation,
        dormancy,
        cold,
        doctor,
        jobs,
        passages,
        administration,
        gate,
        shadow,
        learning,
        merges,
        operations,
        browser,
    ):
        app.include_router(area.router)
    problems.install(app, services.metrics)
    _serve_docs(app)
    _document_problem(app)
    server = services.settings.server
    app.add_middleware(
        edge.BodyLimit, limit=int(server.body_limit_mb * 1e6), seconds=server.body_s
    )
    app.add_middleware(edge.RequestEdge, metrics=services.metrics, spans=services.spans)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _serve_docs(app: FastAPI) -> None:
    """Serve Swagger UI from an installed package: the page works without a network."""
    app.mount(_SWAGGER, StaticFiles(packages=[("fastapi_swagger", "resources")]))

    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url=str(app.openapi_url),
            title=app.title,
            swagger_js_url=f"{_SWAGGER}/swagger-ui-bundle.js",
            swagger_css_url=f"{_SWAGGER}/swagger-ui.css",
            swagger_favicon_url=f"{_SWAGGER}/favicon-32x32.png",
        )

    app.add_api_route("/docs", docs, include_in_schema=False, response_class=HTMLResponse)


def _document_problem(app: FastAPI) -> None:
    """Add the schema that every documented error refers to."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()
        schemas = document["components"]["schemas"]
        if "Problem" not in schemas:
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs"))
            schemas["Problem"] = problem
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it
