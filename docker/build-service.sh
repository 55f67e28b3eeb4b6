#!/bin/sh
# Build the service's image without an image registry, as root, where a Docker engine answers.
# Prints the image's tag, and nothing else, on stdout. Where a registry can be reached, a plain
# `docker build -f docker/Dockerfile -t ecphoria .` does.
set -eu

ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
BASE=ecphoria/python:bookworm
TAG=ecphoria

"$ROOT/docker/build-base.sh" "$BASE" python3,python3-venv
# As an archive: the older builder reads no docker/Dockerfile.dockerignore.
tar -C "$ROOT" --exclude=__pycache__ -c docker/Dockerfile constraints.txt pyproject.toml \
    README.md LICENSE NOTICE cypher service \
    scripts/build_hook.py scripts/generate_sync_client.py |
    docker build --quiet --build-arg "PYTHON=$BASE" --tag "$TAG" -f docker/Dockerfile - >&2
echo "$TAG"
