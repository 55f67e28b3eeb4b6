"""The program of a service in a process of its own, and its admin key."""

import secrets

PROGRAM = """
import asyncio
from ecphoria.http.app import serve
from ecphoria.settings import read_settings
from ecphoria.telemetry import configure_logging

settings = read_settings()
configure_logging(settings.log.level, settings.log.format)
asyncio.run(serve(settings, started=lambda up: print(up.url, flush=True)))
"""
KEY = "process-" + secrets.token_urlsafe(32)
