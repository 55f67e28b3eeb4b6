"""Settings of a fast run."""

import gc
from collections.abc import Iterator

import pytest
import trustme


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trust one authority: each client reads them all, and the public ones take 30 ms."""
    file = tmp_path_factory.mktemp("authority") / "authority.pem"
    trustme.CA().cert_pem.write_to_path(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


def pytest_collection_finish() -> None:
    """Keep modules and tests, which stay to the end, out of the garbage collector's rounds."""
    gc.collect()
    gc.freeze()
