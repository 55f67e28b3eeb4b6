#!/bin/sh
# Try both images together, as root, without an image registry: Neo4j, the service as compose.yaml
# runs it, one memory appended and recalled, a greeting by MCP, a restart. Removes what it started;
# keeps the images.
# PYTHON names the interpreter that has ecphoria[server,engine]; python3 by default.
set -eu

HERE=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
NAME="ecphoria-try-$$"
PASSWORD="password-$$-$(date +%s)"
KEY="key-of-the-trial-$$-$(date +%s)-0123456789"
TEXT="The spare key is with the neighbour on the third floor."

step() { echo "== $1" >&2; }
fail() {
    echo "failed: $1" >&2
    docker logs "$NAME-service" >&2 2>/dev/null || true
    exit 1
}
clean() {
    docker rm --force --volumes "$NAME-service" "$NAME-neo4j" >/dev/null 2>&1 || true
    docker network rm "$NAME" >/dev/null 2>&1 || true
}
trap clean EXIT

wait_for() { # seconds, command...
    left=$1
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "no answer: $*"
        sleep 1
    done
}
ask() { # path, body
    curl --silent --show-error --fail "http://$address$1" ${2:+--data "$2"} \
        --header "Authorization: Bearer $KEY" --header "Ecphoria-Tenant: default" \
        --header "Content-Type: application/json" \
        --header "Accept: application/json, text/event-stream"
}
expect() { # answer, part
    case "$1" in *"$2"*) ;; *) fail "no $2 in $1" ;; esac
}

"$HERE/start-engine.sh"
step "images"
neo4j=$("$HERE/neo4j/build.sh")
service=$("$HERE/build-service.sh")

step "Neo4j and the service"
docker network create "$NAME" >/dev/null
docker run --detach --name "$NAME-neo4j" --network "$NAME" --network-alias neo4j \
    --env NEO4J_AUTH="neo4j/$PASSWORD" "$neo4j" >/dev/null
wait_for 300 sh -c "docker logs $NAME-neo4j 2>&1 | grep -q 'Started\.'"
docker run --detach --name "$NAME-service" --network "$NAME" --publish 127.0.0.1::8765 \
    --cap-drop ALL --security-opt no-new-privileges:true \
    --env ECPHORIA_NEO4J__URI=bolt://neo4j:7687 --env ECPHORIA_NEO4J__PASSWORD="$PASSWORD" \
    --env ECPHORIA_AUTH__BOOTSTRAP_KEY="$KEY" "$service" >/dev/null
address=$(docker port "$NAME-service" 8765)
wait_for 300 ask /readyz

step "health, append, recall"
[ "$(docker exec "$NAME-service" id -u)" != 0 ] || fail "the service runs as root"
expect "$(ask /healthz)" '"status":"alive"'
expect "$(ask /readyz)" '"status":"ready"'
expect "$(ask /v1/episodes "{\"text\": \"$TEXT\"}")" '"outcome":"created"'
expect "$(ask /v1/recall '{"cue": "Where is the spare key?"}')" "$TEXT"

step "MCP"
HELLO='{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
  "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "try", "version": "1"}}}'
expect "$(ask /mcp "$HELLO")" '"serverInfo"'

step "restart"
docker restart "$NAME-neo4j" "$NAME-service" >/dev/null
address=$(docker port "$NAME-service" 8765)
wait_for 300 ask /readyz
expect "$(ask /v1/recall '{"cue": "Where is the spare key?"}')" "$TEXT"
echo "both images work"
