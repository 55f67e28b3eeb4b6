"""Copies by the command line, on the store that the settings name."""

import re
import secrets
from pathlib import Path

from tests.integration.cli.conftest import CommandLine, Served


def test_a_tenant_is_exported_erased_and_imported(
    service: Served, ecphoria: CommandLine, tmp_path: Path
) -> None:
    name, file = f"moved-{secrets.token_hex(4)}", str(tmp_path / "moved.copy")
    assert ecphoria("tenants", "create", name).returncode == 0
    key = ecphoria("keys", "issue", "agent", "--tenant", name, "--scope", "read")
    (secret,) = re.findall(r"eck_\S+", key.stdout)
    said = ecphoria("remember", "The kettle is red.", "--tenant", name)
    assert said.returncode == 0, said.stderr
    copied = ecphoria("tenants", "export", name, file)
    assert copied.returncode == 0, copied.stderr
    assert "Copied 1 tenant" in copied.stdout
    again = ecphoria("tenants", "export", name, file)
    assert again.returncode == 2
    assert "exists" in again.stderr
    refused = ecphoria("tenants", "import", file)
    assert refused.returncode == 1
    assert "exists already" in refused.stderr
    discarded = ecphoria("tenants", "import", file, "--discard")
    assert "Nothing to delete" in discarded.stdout
    assert ecphoria("tenants", "erase", name, "--yes").returncode == 0
    stored = ecphoria("tenants", "import", file)
    assert stored.returncode == 0, stored.stderr
    found = ecphoria("recall", "Which colour has the kettle?", "--key", secret, "--tenant", name)
    assert "The kettle is red." in found.stdout, found.stderr
