#!/bin/sh
# Make a base image without an image registry, as root: Debian with some packages, by debootstrap.
# Usage: build-base.sh TAG PACKAGE,...; does nothing if the tag is there.
# What runs on it trusts the certificates that this machine trusts, whoever signs for its network.
set -eu

TAG=$1
PACKAGES=$2
TRUSTED=/etc/ssl/certs/ca-certificates.crt

if docker image inspect "$TAG" >/dev/null 2>&1; then exit 0; fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include="ca-certificates,$PACKAGES" bookworm "$root" >&2
if [ -f "$TRUSTED" ]; then cp "$TRUSTED" "$root$TRUSTED"; fi
tar -C "$root" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists -c . |
    docker import --change "ENV PIP_CERT=$TRUSTED" - "$TAG" >&2
