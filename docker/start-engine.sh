#!/bin/sh
# Make a Docker engine answer on a Debian-like machine where we are root; do nothing where one does.
# Exits 1, saying why, where none can be started: callers then use the managed local server.
set -eu

LOG="${TMPDIR:-/tmp}/dockerd.log"
WAIT_SECONDS=30

answers() { docker info >/dev/null 2>&1; }
refuse() {
    echo "no Docker engine: $1" >&2
    exit 1
}

if answers; then exit 0; fi
[ "$(id -u)" = 0 ] || refuse "none answers, and starting one needs root"

if ! command -v dockerd >/dev/null || ! command -v iptables >/dev/null ||
    ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || refuse "none is installed, and there is no apt-get"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends \
        docker.io iptables debootstrap; } >"$LOG" 2>&1 || refuse "installing it failed, see $LOG"
fi
if answers; then exit 0; fi

setsid nohup dockerd >>"$LOG" 2>&1 </dev/null &
for _ in $(seq "$WAIT_SECONDS"); do
    sleep 1
    if answers; then exit 0; fi
done
refuse "dockerd did not answer within $WAIT_SECONDS s, see $LOG"
