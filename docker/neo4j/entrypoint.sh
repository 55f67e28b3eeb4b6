#!/bin/sh
# Start Neo4j as the official image does, as far as we use it: NEO4J_AUTH (`neo4j/PASSWORD` or
# `none`) and settings such as NEO4J_server_memory_heap_max__size (`_` a dot, `__` a `_`).
set -eu

JAVA=/opt/java/bin/java
export NEO4J_HOME=/var/lib/neo4j NEO4J_CONF=/var/lib/neo4j/conf
CONF="$NEO4J_CONF/neo4j.conf"

# A setting may stand only once in neo4j.conf: those of the environment replace ours.
env | sed -n 's/^NEO4J_\([a-z][a-z_]*=\)/\1/p' | while IFS= read -r line; do
    key=$(printf %s "${line%%=*}" | sed 's/__/\n/g; s/_/./g; s/\n/_/g')
    printf '%s=%s\n' "$key" "${line#*=}"
done >"$CONF"
while IFS= read -r line; do
    grep -qF "${line%%=*}=" "$CONF" || printf '%s\n' "$line" >>"$CONF"
done </opt/neo4j/neo4j.conf

case "${NEO4J_AUTH:-}" in
"") ;; # as Neo4j comes: user and password neo4j, to be changed at the first login
none) echo dbms.security.auth_enabled=false >>"$CONF" ;;
neo4j/?*)
    if [ ! -d /data/databases/system ]; then
        arguments=$(mktemp)
        printf 'dbms\nset-initial-password\n%s\n' "${NEO4J_AUTH#neo4j/}" >"$arguments"
        "$JAVA" -XX:TieredStopAtLevel=1 -cp "$NEO4J_HOME/lib/*" org.neo4j.cli.AdminTool \
            "@$arguments"
        rm "$arguments"
    fi
    ;;
*)
    echo "NEO4J_AUTH must be neo4j/PASSWORD or none" >&2
    exit 1
    ;;
esac
unset NEO4J_AUTH

exec "$JAVA" @/opt/neo4j/flags "-Xmx${NEO4J_server_memory_heap_max__size:-1g}" \
    -cp "$NEO4J_HOME/plugins/*:$NEO4J_HOME/lib/*" org.neo4j.server.Neo4jCommunity \
    --home-dir="$NEO4J_HOME" --config-dir="$NEO4J_CONF" --console-mode
