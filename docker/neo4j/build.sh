#!/bin/sh
# Build the engine's image without an image registry, as root, where a Docker engine answers
# (../start-engine.sh). Prints the image's tag, and nothing else, on stdout.
# PYTHON names the interpreter that has ecphoria[server,engine]; python3 by default.
set -eu

HERE=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
BASE=ecphoria/base:bookworm

"$HERE/../build-base.sh" "$BASE" tini,procps
described=$("${PYTHON:-python3}" "$HERE/context.py")
context=$(printf '%s\n' "$described" | head -n 1)
tag=$(printf '%s\n' "$described" | tail -n 1)
docker build --quiet --build-arg "BASE=$BASE" --tag "$tag" "$context" >&2
echo "$tag"
