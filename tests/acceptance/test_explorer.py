"""The explorer as a browser meets it: its files, its headers, and how it is signed in."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from ecphoria.settings import AuthSettings
from tests.acceptance.conftest import (
    NO_TLS,
    Owner,
    RunningService,
    new_owner,
    problem,
    running,
    settings_for,
)
from tests.conftest import Server

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
FOREIGN_SITES = ["cross-site", "same-site", "Same-Origin", ""]


@pytest.fixture(scope="module")
def anyone(server: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, verify=NO_TLS) as client:
        yield client


@pytest.fixture(scope="module")
def unlocked(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A service that asks for no keys."""
    home = tmp_path_factory.mktemp("unlocked")
    settings = settings_for(neo4j_server, home, auth=AuthSettings(enabled=False))
    with running(settings) as made, httpx.Client(base_url=made.url, timeout=60) as client:
        yield client


def ticket_of(admin: httpx.Client, **body: object) -> str:
    made = admin.post("/v1/explorer/tickets", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["ticket"])


def redeemed(anyone: httpx.Client, ticket: str) -> httpx.Response:
    return anyone.post("/explorer/redeem", json={"ticket": ticket})


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize("path", ["/explorer", "/explorer/", "/explorer/index.html"])
def test_the_page_comes_with_the_headers_that_keep_it_apart(
    anyone: httpx.Client, path: str
) -> None:
    page = anyone.get(path)
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"] == POLICY
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Cache-Control"] == "no-cache"
    again = anyone.get(path, headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    script = anyone.get("/explorer/main.js")
    assert {one.headers["Content-Security-Policy"] for one in (again, script)} == {POLICY}
    assert anyone.head(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/explorer/nothing.js", "/explorer/../routes.py", "/explorer/%2e%2e/routes.py",
     "/explorer/..%2froutes.py", "/explorer//etc/passwd", "/explorer/%00"],
)  # fmt: skip
def test_only_the_files_of_the_page_are_served(anyone: httpx.Client, path: str) -> None:
    answer = anyone.get(path)
    problem(answer, 404, "not-found")


def test_every_file_has_the_type_that_a_browser_needs(anyone: httpx.Client) -> None:
    types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    folder = Path(__file__).parents[2] / "service/ecphoria/http/explorer/page"
    for file in folder.rglob("*.*"):
        answer = anyone.get(f"/explorer/{file.relative_to(folder).as_posix()}")
        assert answer.content == file.read_bytes()
        wanted = types.get(file.suffix)
        assert wanted is None or answer.headers["Content-Type"].startswith(wanted), file.name


def test_a_ticket_becomes_a_key_of_its_tenant_once(owner: Owner, anyone: httpx.Client) -> None:
    owner.remember("Mara has a parrot.")
    ticket = ticket_of(owner)
    answer = redeemed(anyone, ticket)
    signed_in = answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    assert (signed_in["tenant"], signed_in["scopes"]) == (owner.name, ["read"])
    left = datetime.fromisoformat(signed_in["expires_at"]).timestamp() - time.time()
    assert 11.9 * 3_600 < left <= 12 * 3_600
    key = bearer(signed_in["key"])
    assert anyone.get("/v1/stats", headers=key).json()["episodes"] == 1
    me = anyone.get("/v1/me", headers=key).json()
    assert (me["tenant"], me["key_name"], me["operator"]) == (owner.name, "explorer", False)
    assert (me["scopes"], me["expires_at"]) == (["read"], signed_in["expires_at"])
    wrote = anyone.post("/v1/episodes", json={"text": "x"}, headers=key)
    problem(wrote, 403, "forbidden")
    problem(redeemed(anyone, ticket), 401, "unauthenticated")


def test_a_ticket_may_let_a_browser_write_but_never_administer(
    owner: Owner, anyone: httpx.Client
) -> None:
    key = bearer(redeemed(anyone, ticket_of(owner, write=True)).json()["key"])
    assert anyone.post("/v1/episodes", json={"text": "x"}, headers=key).status_code == 201
    problem(anyone.get("/v1/keys", headers=key), 403, "forbidden")
    problem(anyone.post("/v1/explorer/tickets", json={}, headers=key), 403, "forbidden")


def test_a_ticket_is_of_the_tenant_that_its_maker_may_act_for(
    owner: Owner, stranger: Owner, operator: httpx.Client, anyone: httpx.Client
) -> None:
    for tenant in (stranger.name, "no-such-tenant"):
        refused = owner.post("/v1/explorer/tickets", json={"tenant": tenant})
        problem(refused, 403, "forbidden")
    problem(operator.post("/v1/explorer/tickets", json={}), 422, "invalid-input")
    unknown = operator.post("/v1/explorer/tickets", json={"tenant": "no-such-tenant"})
    problem(unknown, 404, "not-found")
    named = {"Ecphoria-Tenant": owner.name}
    for body, header in (({"tenant": owner.name}, {}), ({}, named), ({"tenant": None}, named)):
        made = operator.post("/v1/explorer/tickets", json=body, headers=header)
        signed_in = redeemed(anyone, made.json()["ticket"]).json()
        assert signed_in["tenant"] == owner.name
        key = bearer(signed_in["key"])
        other = anyone.get("/v1/stats", headers=key | {"Ecphoria-Tenant": stranger.name})
        problem(other, 403, "forbidden")


def test_the_ticket_of_an_erased_tenant_makes_no_key(
    operator: httpx.Client, anyone: httpx.Client
) -> None:
    with new_owner(operator, erase=False) as gone:
        ticket = ticket_of(gone)
    assert operator.delete(f"/v1/tenants/{gone.name}").status_code == 200
    problem(redeemed(anyone, ticket), 404, "not-found")


def test_nobody_signs_in_without_a_ticket(anyone: httpx.Client, owner: Owner) -> None:
    problem(redeemed(anyone, "A" * 43), 401, "unauthenticated")
    problem(redeemed(anyone, "no ticket"), 422, "invalid-input")
    problem(anyone.post("/v1/explorer/tickets", json={}), 401, "unauthenticated")
    sent = f'{{"ticket": "{ticket_of(owner)}"}}'
    # A page of another site can send a form without asking, so a form is refused.
    for form in ("text/plain", "application/x-www-form-urlencoded"):
        answer = anyone.post("/explorer/redeem", content=sent, headers={"Content-Type": form})
        problem(answer, 415, "unsupported-media-type")
    right = {"Content-Type": "application/json"}
    assert anyone.post("/explorer/redeem", content=sent, headers=right).status_code == 200


def test_a_browser_signs_out_and_an_admin_sees_and_ends_its_key(
    owner: Owner, anyone: httpx.Client
) -> None:
    keys = [redeemed(anyone, ticket_of(owner)).json()["key"] for _ in range(2)]
    assert anyone.delete("/v1/me", headers=bearer(keys[0])).status_code == 204
    problem(anyone.get("/v1/me", headers=bearer(keys[0])), 401, "unauthenticated")
    listed = [key for key in owner.get("/v1/keys").json()["items"] if key["name"] == "explorer"]
    assert [bool(key["revoked_at"]) for key in listed] == [True, False]
    assert owner.delete(f"/v1/keys/{listed[1]['id']}").status_code == 204
    problem(anyone.get("/v1/me", headers=bearer(keys[1])), 401, "unauthenticated")


def test_a_key_without_an_end_does_not_end_by_a_sign_out(owner: Owner) -> None:
    problem(owner.delete("/v1/me"), 409, "conflict")
    assert owner.get("/v1/me").json()["expires_at"] is None


def test_a_key_with_an_end_is_refused_after_it(owner: Owner) -> None:
    body = {"name": "short", "scopes": ["read"], "expires_in_s": 2}
    issued = owner.post("/v1/keys", json=body).json()
    headers = bearer(issued["secret"])
    owner.get("/v1/stats", headers=headers)  # so that the service knows it
    time.sleep(2.1)
    late = owner.get("/v1/stats", headers=headers)
    longer = owner.post("/v1/keys", json=body | {"expires_in_s": 600}).json()
    assert owner.get("/v1/stats", headers=bearer(longer["secret"])).status_code == 200
    listed = {key["id"]: key for key in owner.get("/v1/keys").json()["items"]}
    for key in (issued, longer):
        assert listed[key["id"]]["expires_at"] == key["expires_at"] is not None
    problem(late, 401, "unauthenticated")
    assert "expired" in late.json()["detail"]
    for wrong in (0, -1, 10**12, 1.5, "2"):
        answer = owner.post("/v1/keys", json=body | {"expires_in_s": wrong})
        problem(answer, 422, "invalid-input")


def test_without_keys_a_ticket_names_the_tenant_and_no_key(unlocked: httpx.Client) -> None:
    signed_in = redeemed(unlocked, ticket_of(unlocked)).json()
    assert signed_in["key"] is None
    assert (signed_in["tenant"], signed_in["scopes"]) == ("default", ["read"])
    me = unlocked.get("/v1/me").json()
    assert (me["key"], me["operator"], me["tenant"]) == (None, True, "default")
    assert unlocked.delete("/v1/me").status_code == 204


PATHS = ["/", "/explorer", "/explorer/", "/v1/me", "/v1/stats", "/docs", "/openapi.json"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("locked", [True, False], ids=["with keys", "without keys"])
def test_no_other_host_name_is_answered(
    anyone: httpx.Client, unlocked: httpx.Client, path: str, *, locked: bool
) -> None:
    client = anyone if locked else unlocked
    headers = {"Host": "evil.example", "Accept": "text/html"}
    problem(client.get(path, headers=headers), 421, "unknown-host")


@pytest.mark.parametrize("site", FOREIGN_SITES)
@pytest.mark.parametrize("path", ["/explorer", "/explorer/", "/v1/me", "/v1/browser"])
def test_no_page_of_another_site_is_answered(unlocked: httpx.Client, path: str, site: str) -> None:
    refused = unlocked.get(path, headers={"Sec-Fetch-Site": site})
    problem(refused, 403, "forbidden")
    for own in ("same-origin", "none"):
        assert unlocked.get(path, headers={"Sec-Fetch-Site": own}).status_code == 200


def test_a_page_of_another_site_redeems_no_ticket(owner: Owner, anyone: httpx.Client) -> None:
    body, foreign = {"ticket": ticket_of(owner)}, {"Sec-Fetch-Site": "cross-site"}
    problem(anyone.post("/explorer/redeem", json=body, headers=foreign), 403, "forbidden")
    assert redeemed(anyone, body["ticket"]).status_code == 200
