"""Generate the synchronous client before a wheel or an editable install is built."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["GenerateSyncClient"]


class GenerateSyncClient(BuildHookInterface[Any]):
    """The hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Write the modules; hatchling calls this before it collects the files of the wheel."""
        # Hatchling loads this file by its path, so the script beside it cannot be imported.
        script = Path(__file__).with_name("generate_sync_client.py")
        runpy.run_path(str(script))["refresh"]()
