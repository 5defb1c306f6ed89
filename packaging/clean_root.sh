#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/clean_root.sh FOLDER: installs the packages of FOLDER by apt into a Debian that has nothing else, and has autopkgtest
# run packaging/debian/tests there: first light from the package. As root or with sudo; only folders of its own are changed.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
say() { printf '%s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

suite=bookworm
# Of earlier runs: the archive of a root that nobody has used.
kept=${LIGHTLOOM_CLEAN_ROOT:-/var/tmp/lightloom-clean-root}
base=$kept/$suite.tar
# Debian comes from where this machine has it, and by the same proxy.
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' 'Component: main' | sed -n "s/ $suite\$//p" | head -n 1)
mirror=${mirror:-http://deb.debian.org/debian}
as_root mkdir -p "$kept"
root=$(as_root mktemp -d "$kept/root.XXXXXX")
work=$(mktemp -d "${TMPDIR:-/tmp}/lightloom-autopkgtest.XXXXXX")
trap 'as_root rm -rf --one-file-system "$root"; rm -rf "$work"' EXIT
as_root chmod 755 "$root"
if [ ! -e "$base" ]; then
  say "debootstrap --variant=minbase $suite"
  as_root debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/debootstrap.log" 2>&1 || {
    tail -n 20 "$work/debootstrap.log" >&2
    exit 1
  }
  as_root tar -C "$root" --one-file-system --exclude=./proc/* --exclude=./sys/* -cf "$base.new" .
  as_root mv "$base.new" "$base"
else
  as_root tar -C "$root" -xf "$base"
fi
{
  echo "deb $mirror $suite main"
} | as_root tee "$root/etc/apt/sources.list" >/dev/null
apt-config dump | grep -E '^Acquire::([a-z]*::Proxy|Check-Valid-Until|Check-Date) ' |
  as_root tee "$root/etc/apt/apt.conf.d/90machine" >/dev/null || true
as_root cp /etc/resolv.conf "$root/etc/resolv.conf"
# No daemon starts in it.
printf '#!/bin/sh\nexit 101\n' | as_root tee "$root/usr/sbin/policy-rc.d" >/dev/null
as_root chmod 755 "$root/usr/sbin/policy-rc.d"

as_root mount -t proc proc "$root/proc"
trap 'as_root umount "$root/proc"; as_root rm -rf --one-file-system "$root"; rm -rf "$work"' EXIT
in_root() { as_root chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
logged() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
seconds_since() { awk -v began="$1" -v now="$(date +%s.%N)" 'BEGIN { printf "%.1f", now - began }'; }
logged in_root apt-get update -q

# From packages to light, as a reader of docs/packages.md does it.
as_root mkdir "$root/root/packages"
as_root cp "$folder"/*.deb "$root/root/packages/"
began=$(date +%s.%N)
logged in_root sh -c 'apt-get install -q -y --no-install-recommends /root/packages/*.deb'
installed=$(seconds_since "$began")
lit=$(date +%s.%N)
logged in_root loom --state /tmp/first lab run /usr/share/lightloom/scenarios/oddl_testbed_4.yaml
say "apt installed $(ls "$folder"/*.deb | wc -l) packages and what they need in $installed s; first light of four nodes $(seconds_since "$lit") s later"

# The units, by a systemd of that root.
logged in_root apt-get install -q -y --no-install-recommends dbus
as_root umount "$root/proc"
code=0
as_root "$here/packaging/booted_root.sh" "$root" || code=$?
as_root mount -t proc proc "$root/proc"
case $code in
  0) say "units: started, lit, reloaded, and started again when the controller hung" ;;
  77) say "units: not tried, since this machine cannot boot a systemd in namespaces" ;;
  *) exit 1 ;;
esac
as_root rm -rf "$root/etc/systemd/system/lightloom-units.service" "$root"/etc/systemd/system/lightloom*.d "$root/etc/lightloom"
logged in_root sh -c 'cd /root/packages && apt-get purge -q -y $(for each in *.deb; do dpkg-deb -f "$each" Package; done)'
logged in_root sh -c 'left=$(ls -d /usr/bin/loom /usr/bin/lightloom* /usr/share/lightloom /lib/systemd/system/lightloom* \
  /lib/udev/rules.d/70-lightloom.rules /usr/share/doc/lightloom* 2>/dev/null); [ -z "$left" ] || { echo "after purge: $left"; exit 1; }'
say "purged without a trace"

# autopkgtest wants a source package beside the binary ones.
mkdir "$work/lightloom"
cp -a "$here/packaging/debian" "$work/lightloom/debian"
version=$(dpkg-deb -f "$(ls "$folder"/lightloom-cli_*.deb)" Version)
printf 'lightloom (%s) unstable; urgency=medium\n\n  * As packed.\n\n -- Lightloom maintainers <maintainers@lightloom.invalid>  Thu, 01 Jan 1970 00:00:00 +0000\n' \
  "$version" >"$work/lightloom/debian/changelog"
code=0
as_root autopkgtest --no-built-binaries --summary-file="$work/summary" "$folder"/*.deb "$work/lightloom/" -- chroot "$root" >"$work/autopkgtest.log" 2>&1 || code=$?
# 2: something was skipped, as the test of units, which was tried above.
[ "$code" -eq 0 ] || [ "$code" -eq 2 ] || {
  cat "$work/autopkgtest.log" >&2
  exit 1
}
grep '^first light of' "$work/autopkgtest.log" >&2
say "autopkgtest: $(tr -s ' ' <"$work/summary" | paste -sd, -)"
