"""What a user types, from the first memory to the last."""

import json
import re
import secrets
import signal
import subprocess
from itertools import islice, takewhile
from pathlib import Path

import httpx
import pytest

from tests.conftest import SMALL_ENGINE_VARIABLES, Server
from tests.graphiti_graph import BEGUN, graphiti_graph
from tests.integration.cli.conftest import PROGRAM, STOP_WITHIN_S, CommandLine, Served

SAMPLE = Path(__file__).parents[3] / "service/ecphoria/demo/data/conversation.jsonl"


def of_a_new_tenant(ecphoria: CommandLine) -> CommandLine:
    """Work in an empty tenant, which stays."""
    tenant = f"cli-{secrets.token_hex(4)}"
    assert ecphoria("tenants", "create", tenant).returncode == 0
    return CommandLine({**ecphoria.environment, "ECPHORIA_TENANT": tenant})


def test_what_is_remembered_is_recalled(ecphoria: CommandLine, service: Served) -> None:
    said = "The spare key hangs behind the cuckoo clock."
    first = ecphoria("remember", said, "--speaker", "Ana", "--at", "2026-01-05T10:00:00Z")
    again = ecphoria("remember", said, "--speaker", "Ana", "--at", "2026-01-05T10:00:00Z")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("Remembered")
    assert again.stdout.startswith("Already remembered")
    recalled = ecphoria("recall", "Where is the spare key?", "--explain")
    assert recalled.returncode == 0, recalled.stderr
    assert said in recalled.stdout
    assert "→ this memory" in recalled.stdout


def test_a_file_is_imported_once(ecphoria: CommandLine, service: Served) -> None:
    first = ecphoria("import", str(SAMPLE), "--batch", "100")
    assert first.returncode == 0, first.stderr
    assert "394 new, 0 known before, 0 refused" in first.stdout
    again = ecphoria("import", "-", "--json", feed=SAMPLE.read_text(encoding="utf-8"))
    assert json.loads(again.stdout) == {
        "created": 0, "existed": 394, "refused": 0, "left_out": {}, "parts_left_out": {},
    }  # fmt: skip
    stats = json.loads(ecphoria("stats", "--json").stdout)
    assert stats["speakers"] >= 3
    assert stats["sessions"] >= 28


def test_a_first_load_is_resumed_by_the_same_command_only(
    ecphoria: CommandLine, service: Served, tmp_path: Path
) -> None:
    mine = of_a_new_tenant(ecphoria)
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:120]
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join([*lines[:60], "{", *lines[60:]]), encoding="utf-8")
    words = ("import", str(file), "--bulk", "--batch", "50")
    for told in ("120 new, 0 known before, 1 refused", "0 new, 120 known before, 1 refused"):
        done = mine(*words)
        assert told in done.stdout, done.stderr
    kept = [json.loads(line) for line in mine("list", "-n", "400", "--json").stdout.splitlines()]
    assert [one["text"] for one in kept] == [json.loads(line)["text"] for line in lines]
    refused = mine("import", str(SAMPLE), "--bulk")
    assert refused.returncode == 1
    assert "a first load needs an empty tenant" in refused.stderr


def test_an_export_is_imported_once_listed_and_forgotten(
    ecphoria: CommandLine, service: Served, tmp_path: Path
) -> None:
    messages = [
        {"uuid": f"m{n}", "sender": sender, "text": text, "created_at": f"2025-01-12T10:0{n}:00Z"}
        for n, (sender, text) in enumerate(
            [("human", "Which ferry goes to Vis?"), ("assistant", "The Petar Hektorović does.")]
        )
    ]
    talk = {"uuid": "0a1b2c3d", "name": "Ferries", "chat_messages": messages}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([talk]), encoding="utf-8")
    for told in ("2 new, 0 known before, 0 refused", "0 new, 2 known before, 0 refused"):
        done = ecphoria("import", str(file), "--format", "claude")
        assert told in done.stdout, done.stderr
    session = "Ferries (0a1b2c3d)"
    listed = ecphoria("list", "--session", session, "--newest", "--json").stdout.splitlines()
    assert [json.loads(line)["role"] for line in listed] == ["assistant", "user"]
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps([talk])[:-20], encoding="utf-8")
    done = ecphoria("import", str(cut), "--format", "claude")
    assert (done.returncode, "cut off" in done.stderr) == (1, True), done.stderr
    assert "Erased 2 episodes" in ecphoria("forget", "--session", session, "--yes").stdout
    assert ecphoria("list", "--session", session).stdout == ""


def test_what_is_stored_is_shown(ecphoria: CommandLine, service: Served) -> None:
    told = ecphoria("remember", "The lamp [red] is lit.", "--session", "pier", "--speaker", "Orla",
                    "--at", "2024-03-01T09:00:00Z")  # fmt: skip
    ident = told.stdout.split()[-1]
    shown = ecphoria("show", ident).stdout
    assert "The lamp [red] is lit." in shown
    assert "2024-03-01 09:00:00 UTC" in shown
    assert json.loads(ecphoria("show", ident, "--json").stdout)["speaker"] == "Orla"
    assert ecphoria("show", "0" * 32).returncode == 1
    assert ecphoria("show", "concept:nobody at all", "--around").returncode == 1
    around = json.loads(ecphoria("show", ident, "--around", "--json").stdout)
    assert around["nodes"]["id"][0] == ident
    assert any(
        line.split() == ["pier", "1", "2024-03-01", "2024-03-01", "Orla"]
        for line in ecphoria("sessions").stdout.splitlines()
    )
    names = [
        json.loads(line)["name"] for line in ecphoria("sessions", "--json").stdout.splitlines()
    ]
    assert "pier" in names
    answer = json.loads(ecphoria("recall", "Is the lamp lit?", "--json").stdout)
    trace = ecphoria("trace", answer["trace_id"])
    assert "Is the lamp lit?" in trace.stdout, trace.stderr
    assert "The lamp [red] is lit." in trace.stdout
    assert json.loads(ecphoria("trace", answer["trace_id"], "--json").stdout)["hits"]
    early = ("recall", "Is the lamp lit?", "--json", "--session", "pier")
    assert json.loads(ecphoria(*early, "--before", "2024-01-01T00:00:00Z").stdout)["hits"] == []
    assert json.loads(ecphoria(*early, "--as-of", "2024-01-01T00:00:00Z").stdout)["hits"] == []
    assert json.loads(ecphoria(*early, "--from", "2024-01-01T00:00:00Z").stdout)["hits"]
    listed = ecphoria("strategy", "list").stdout
    assert all(name in listed for name in ("ecphoria", "synapse", "cls", "actr", "ecphory"))


def test_a_memory_is_consolidated(ecphoria: CommandLine, service: Served) -> None:
    # A tenant of its own: that of the other tests has the whole sample by now.
    mine = of_a_new_tenant(ecphoria)
    for text in ("The ferry leaves at eight.", "It comes back at nine."):
        assert mine("remember", text, "--session", "harbour").returncode == 0
    done = mine("consolidate")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[:7]] == [
        "expire",
        "embed",
        "merge",
        "engrams",
        "associate",
        "prior",
        "decay",
    ]
    told = json.loads(mine("consolidate", "--json").stdout)
    steps = {step["name"]: step for step in told["steps"]}
    assert steps["prior"]["status"] == "done"
    assert steps["prior"]["counts"]["episodes"] >= 2
    assert "nothing was written" in mine("consolidate", "--dry-run").stdout
    job = mine("consolidate", "--no-wait").stdout.strip()
    shown = json.loads(mine("jobs", "show", job, "--wait", "--json").stdout)
    assert (shown["state"], shown["kind"]) == ("done", "consolidation")
    listed = mine("jobs", "list").stdout.splitlines()
    assert len(listed) == 5
    assert listed[1].startswith(job)


def test_an_archived_memory_is_listed_and_restored(ecphoria: CommandLine, service: Served) -> None:
    given = ("--speaker", "Ivo", "--role", "user", "--metadata", "port=Vis")
    text = "The buoy was painted green."
    told = ecphoria("remember", text, *given, "--metadata", "year=2024", "--json")
    ident = json.loads(told.stdout)["id"]
    shown = json.loads(ecphoria("show", ident, "--json").stdout)
    assert (shown["role"], shown["metadata"]) == ("user", {"port": "Vis", "year": 2024})
    for wanted, found in (("year=2024.0", 1), ('year={"$lt": 2024}', 0), ('year="2024"', 0)):
        listed = ecphoria("list", "--metadata", wanted, "--json").stdout.splitlines()
        assert len(listed) == found, wanted
        counted = ecphoria("forget", "--metadata", wanted, "--dry-run", "--json").stdout
        assert json.loads(counted)["matched"] == found, wanted
        recalled = ecphoria("recall", text, "--metadata", wanted, "--json").stdout
        assert len(json.loads(recalled)["hits"]) == found, wanted
    assert json.loads(ecphoria("dormancy", "sleep", ident, "--json").stdout) == ident
    again = ecphoria("dormancy", "sleep", ident)
    assert (again.returncode, ident in again.stderr) == (1, True)
    assert ident in ecphoria("dormancy", "list").stdout
    assert json.loads(ecphoria("archive", "add", "--days", "0", "--json").stdout)["archived"] >= 1
    listed = ecphoria("archive", "list", "--speaker", "ivo", "--json").stdout.splitlines()
    (memory,) = map(json.loads, listed)
    assert memory["id"] == ident
    assert memory["summary"] == text
    assert ident in ecphoria("archive", "list", "--limit", "100").stdout
    assert (
        ecphoria("archive", "list", "--session", "none").stdout == "No such memory is archived.\n"
    )
    assert "ecphoria archive list" in ecphoria("dormancy", "list").stderr
    assert json.loads(ecphoria("archive", "restore", ident, "--json").stdout)["restored"] == [
        ident
    ]
    assert ecphoria("dormancy", "wake", ident).stdout == "1 memory live again\n"


def test_the_number_of_hits_has_two_names(ecphoria: CommandLine, service: Served) -> None:
    for text in ("The gull is grey.", "The gull is loud."):
        ecphoria("remember", text)
    for given in (("-k", "1"), ("--limit", "1"), ("-k", "1", "--limit", "1")):
        told = ecphoria("recall", "Tell me of the gull", *given, "--json").stdout
        assert len(json.loads(told)["hits"]) == 1, given
    for given in (("-k", "1", "--limit", "2"), ("--limit", "0")):
        refused = ecphoria("recall", "Tell me of the gull", *given)
        assert refused.returncode != 0, given
        assert "--limit" in refused.stderr, given


def test_a_merge_is_listed_and_decided(ecphoria: CommandLine, service: Served) -> None:
    assert ecphoria("consolidate", "--step", "merge").returncode == 0
    assert ecphoria("facts", "merges", "--status", "proposed").returncode == 0
    unknown = ecphoria("facts", "merges", "no such", "concept")
    assert unknown.returncode == 1
    assert "not proposed" in unknown.stderr


def test_bad_records_do_not_sink_the_others(ecphoria: CommandLine, service: Served) -> None:
    lines = ['{"text": "a note worth keeping"}', "nonsense", '{"text": ""}', '{"text": "and one"}']
    done = ecphoria("import", "-", feed="\n".join(lines))
    assert done.returncode == 1
    assert "2 new, 0 known before, 2 refused" in done.stdout
    assert "Record 2: Not JSON" in done.stderr
    assert "Record 3:" in done.stderr


def test_a_wrong_strategy_is_answered_with_the_right_ones(
    ecphoria: CommandLine, service: Served
) -> None:
    done = ecphoria("recall", "x", "--strategy", "magic")
    assert done.returncode == 2
    assert "fusion" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_told_at_once(ecphoria: CommandLine, service: Served) -> None:
    done = ecphoria("serve", "--port", service.url.rsplit(":", 1)[1])
    assert done.returncode == 1
    assert "Cannot listen on" in done.stderr


def test_a_wrong_setting_is_told(ecphoria: CommandLine) -> None:
    wrong = CommandLine(environment=ecphoria.environment | {"ECPHORIA_SERVER__PROT": "1"})
    done = wrong("serve")
    assert done.returncode == 1
    assert "did you mean ECPHORIA_SERVER__PORT?" in " ".join(done.stderr.split())


def test_the_demo_tells_its_story_twice(ecphoria: CommandLine, service: Served) -> None:
    first = ecphoria("demo", "--port", "0")
    assert first.returncode == 0, first.stderr
    for question in ("1  ", "2  ", "3  ", "4  ", "5  "):
        assert question in first.stdout
    assert "The answer is in" in first.stdout
    assert max(map(len, first.stdout.splitlines())) <= 80
    assert len(re.findall(r"^\d  .+ ─+$", first.stdout, re.MULTILINE)) == 5
    right = re.findall(r"^(?:The answer is in memor|Right: nothing)", first.stdout, re.MULTILINE)
    assert len(right) == 5, first.stdout
    assert not re.search(r'"event"|\[(?:info|warning)|Traceback', first.stdout + first.stderr)
    assert "The service has ended" in first.stdout
    assert "demo --keep" in first.stdout
    assert "http://" not in first.stdout.partition("The service has ended")[2]
    assert re.search(r"^consolidated: \d+ summaries, 1 pair of names", first.stdout, re.MULTILINE)
    assert re.search(
        r"^[1-9]\d* pairs of memories that are alike, [1-9]\d* ranked", first.stdout, re.MULTILINE
    )
    listed = ecphoria("facts", "list", "--tenant", "demo", "--json").stdout
    facts = [json.loads(line) for line in listed.splitlines()]
    assert sum(fact["standing"] == "contested" for fact in facts) == 3
    assert all(fact["quotes"] for fact in facts)
    dormant = ecphoria("dormancy", "list", "--tenant", "demo", "--json").stdout
    assert len(dormant.splitlines()) == 6
    second = kept_demo(ecphoria)
    assert "already there" in second
    assert "Where to look next" in second
    assert "explore --tenant demo" in second
    assert ecphoria("tenants", "erase", "demo", "--yes").returncode == 0


def kept_demo(ecphoria: CommandLine) -> str:
    """Run a demo that stays, look at an address that it prints, end it, and give its words."""
    with subprocess.Popen(
        [*PROGRAM, "demo", "--port", "0", "--keep"],
        env=ecphoria.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = " ".join(takewhile(lambda line: "These addresses work" not in line, process.stdout))
        found = re.search(r"http://\S+/docs", said)
        try:
            assert found, said
            assert httpx.get(found[0]).status_code == 200
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            assert process.wait(timeout=STOP_WITHIN_S) == 0
    return " ".join(said.split())


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_a_start_that_is_interrupted_twice_ends_without_a_traceback(
    ecphoria: CommandLine, tmp_path: Path
) -> None:
    own = {
        name: value
        for name, value in ecphoria.environment.items()
        if not name.startswith("ECPHORIA_NEO4J")
    }
    with subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"],
        env=own | SMALL_ENGINE_VARIABLES | {"ECPHORIA_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any("starting Neo4j" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert "Stopping" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
        assert process.wait(timeout=STOP_WITHIN_S) == 0


def test_a_demo_in_the_home_of_another_store_is_told_in_words(
    ecphoria: CommandLine, service: Served, tmp_path: Path
) -> None:
    nobody = CommandLine(
        environment={
            name: value
            for name, value in ecphoria.environment.items()
            if name != "ECPHORIA_AUTH__BOOTSTRAP_KEY"
        }
    )
    done = nobody("demo", "--port", "0", "--home", str(tmp_path))
    assert done.returncode == 1
    assert "in use already" in done.stderr
    assert "--home" in done.stderr
    assert "Traceback" not in done.stderr


def test_graphiti_is_imported_from_its_neo4j_and_recalled(
    ecphoria: CommandLine, service: Served, neo4j_server: Server
) -> None:
    told = {"ECPHORIA_SOURCE_USER": neo4j_server.user,
            "ECPHORIA_SOURCE_PASSWORD": neo4j_server.password}  # fmt: skip
    knowing = CommandLine(environment=ecphoria.environment | told)
    with graphiti_graph(neo4j_server) as graph:
        names = graph.entities("Zora Vidal", "Marlin Dock")
        zora, dock = names.values()
        said = graph.episode("Zora: I mend sails at the Marlin Dock.", [zora, dock])
        graph.fact(zora, "WORKS_AT", dock, episodes=[said], valid_at=BEGUN)
        words = ("import", neo4j_server.uri, "--group", graph.group)
        for counts in ("1 new, 0 known before, 0 refused", "0 new, 1 known before, 0 refused"):
            done = knowing(*words)
            assert counts in done.stdout, done.stderr
            assert "Read as graphiti" in done.stderr
        refused = ecphoria(*words, "--source-password", "not-the-password")
        assert (refused.returncode, "refuses the user and password" in refused.stderr) == (1, True)
        assert "not-the-password" not in refused.stderr + refused.stdout
    answer = json.loads(ecphoria("recall", "Where does Zora mend sails?", "--json").stdout)
    episode = answer["hits"][0]["episode"]
    assert (episode["text"], episode["session"]) == (
        "I mend sails at the Marlin Dock.", graph.group,
    )  # fmt: skip
    facts = ecphoria("facts", "list", "Zora Vidal").stdout
    assert "Zora Vidal works at Marlin Dock  2024-03-01 to now" in facts


def test_an_import_from_a_neo4j_that_is_down_says_so_once(
    ecphoria: CommandLine, service: Served
) -> None:
    done = ecphoria("import", "bolt://127.0.0.1:9")
    assert done.returncode == 1
    assert done.stderr == "Error: Graphiti's Neo4j does not answer; check its address.\n"


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_an_import_that_is_interrupted_says_that_a_repeat_resumes(
    ecphoria: CommandLine, service: Served, tmp_path: Path
) -> None:
    page = "---\ntags: [sea]\n---\nThe buoy number {} is green.\n"
    folder = tmp_path / "buoys"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}.md").write_text(page.format(number), encoding="utf-8")
    (folder / "bad.md").write_bytes(b"\xff")
    words = ("import", str(folder), "--batch", "5")
    with subprocess.Popen(
        [*PROGRAM, *words], env=ecphoria.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "Read as markdown" in process.stderr.readline()
        assert "importing" in process.stderr.readline(), "a tenth is done"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "Run the same command again to go on from here; nothing is stored twice." in rest
    done = ecphoria(*words)
    assert (done.returncode, "bad.md" in done.stderr) == (1, True)
    new, known = map(int, re.findall(r"(\d+) new, (\d+) known before, 1 refused", done.stdout)[0])
    assert known >= 20
    assert new + known == 300


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_an_evaluation_that_is_interrupted_while_it_appends_erases_its_tenants(
    ecphoria: CommandLine, service: Served, tmp_path: Path
) -> None:
    turns = [
        {"speaker": "Ada", "dia_id": f"D1:{number}", "text": f"The buoy number {number} is green."}
        for number in range(2_000)
    ]
    asked = [{"question": "Which buoy is green?", "evidence": ["D1:7"], "category": 4}]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"conversation": {"session_1": turns}, "qa": asked}]))
    words = ("eval", "locomo", "--data", str(file), "--strategy", "dense")
    with subprocess.Popen(
        [*PROGRAM, *words], env=ecphoria.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = (line for line in process.stderr if line.startswith("remembering"))
        assert len(list(islice(told, 5))) == 5, "half is appended, so that erasing it takes time"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert (process.returncode, rest.partition(".")[0]) == (130, "Interrupted"), rest
    key = {"Authorization": f"Bearer {ecphoria.environment['ECPHORIA_API_KEY']}"}
    left = httpx.get(f"{service.url}/v1/tenants", headers=key)
    assert not [one for one in left.json()["items"] if one["name"].startswith("eval-")]


def test_a_neo4j_that_does_not_answer_is_told_by_its_address(ecphoria: CommandLine) -> None:
    elsewhere = {
        "ECPHORIA_NEO4J__URI": "bolt://127.0.0.1:1",
        "ECPHORIA_TEST_NEO4J__RETRY_S": "0.1",
    }
    done = CommandLine(ecphoria.environment | elsewhere)("serve", "--port", "0")
    assert done.returncode == 1
    assert "does not answer at bolt://127.0.0.1:1" in done.stderr
    assert "ECPHORIA_NEO4J__URI" in done.stderr
