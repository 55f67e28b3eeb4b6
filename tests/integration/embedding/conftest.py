import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "reference: needs the sentence-transformers extra; scripts/ci_parity.sh runs it"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the reference tests out unless they are asked for by `-m reference`."""
    if "reference" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("reference")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
