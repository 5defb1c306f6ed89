#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/booted_root.sh ROOT: boots systemd of the Debian in ROOT, in which the packages are installed, as process 1 of namespaces
# of its own (no device, no network but loopback, a group of processes of its own), and has it run packaging/debian/tests/units.
# Exit codes: 0 kept, 1 broken, 77 this machine cannot do that. As root.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
root=$1
groups=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
[ -n "$groups" ] && [ "$(id -u)" -eq 0 ] && mkdir "$groups/lightloom-units.$$" 2>/dev/null || exit 77
group=$groups/lightloom-units.$$
trap 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true' EXIT  # systemd made groups of its own below it

install -m 755 "$here/packaging/debian/tests/units" "$root/root/units"
cat >"$root/root/run-units" <<'RUN'
#!/bin/sh
/root/units >/root/units.log 2>&1
echo $? >/root/units.code
sync
systemctl --force --force poweroff
RUN
chmod 755 "$root/root/run-units"
rm -f "$root/root/units.code"
printf '[Unit]\nAfter=basic.target\n[Service]\nType=oneshot\nExecStart=/root/run-units\n' >"$root/etc/systemd/system/lightloom-units.service"
mkdir -p "$root/old"
# A root that is pivoted to and not changed to: PrivateUsers= is refused to whoever lives in a chroot.
# shellcheck disable=SC2016
(
  echo $BASHPID >"$group/cgroup.procs"
  exec timeout --kill-after=5 180 unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child sh -euc '
    root=$1
    mount --make-rprivate /
    mount --bind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs dev
    mount -t tmpfs -o mode=755 tmpfs run
    for each in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${each%:*}" c 1 "${each#*:}"; done
    mknod -m 666 dev/tty c 5 0
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    mount -t tmpfs tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    pivot_root . old
    umount -l /old
    exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal \
      --show-status=0 --unit=lightloom-units.service' sh "$root"
) >/dev/null 2>&1 || true
[ -e "$root/root/units.code" ] || exit 77
code=$(cat "$root/root/units.code")
[ "$code" = 0 ] || { cat "$root/root/units.log" >&2; exit 1; }
grep -E '^(StatusText|NRestarts)=' "$root/root/units.log" >&2
