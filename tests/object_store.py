"""An object store that speaks the protocol of S3, for the archive."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer

from ecphoria.records.ids import fresh_id

__all__ = ["keys_of", "new_bucket", "object_store"]


@contextmanager
def object_store() -> Iterator[None]:
    """Serve it, and set the variables with which this process uses it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    put, alone = S3Response.put_object, threading.Lock()

    def put_alone(response: S3Response) -> Any:
        # S3 checks the condition of a put and stores the object in one step; moto does not.
        with alone:
            return put(response)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(S3Response, "put_object", put_alone)
        for name, value in variables.items():
            patched.setenv(name, value)
        yield
    server.stop()


def new_bucket() -> str:
    """Make a bucket; gives its address."""
    name = f"b{fresh_id()}"
    boto3.client("s3").create_bucket(Bucket=name)
    return f"s3://{name}"


def keys_of(bucket: str) -> list[str]:
    """List the keys of a bucket."""
    listed = boto3.client("s3").list_objects_v2(Bucket=bucket.removeprefix("s3://"))
    return [one["Key"] for one in listed.get("Contents", ())]
