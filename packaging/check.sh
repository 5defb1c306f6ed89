#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/check.sh FOLDER: are these packages fit to be given away? lintian has nothing to say without a reason, the manual pages
# are sound, another path makes the same bytes, and in a clean root they are installed and make light. As root or with sudo.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
say() { printf '%s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
started=$SECONDS

say "== lintian"
# What is overridden counts for --fail-on as soon as it is shown, so it is shown by itself.
lintian --profile debian --fail-on error,warning "$folder"/*.deb
lintian --profile debian --show-overrides "$folder"/*.deb >&2
say "lintian: no errors, no warnings"

say "== manual pages"
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$pages"; done
for page in "$pages"/usr/share/man/man*/*.gz; do
  # The test of lintian itself, which only tells the first line of what it finds.
  warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
  [ -z "$warnings" ] || { say "$page: $warnings"; exit 1; }
  say "$(basename "$page"): no warnings"
done

say "== the same bytes from another path"
# Another path, of another length. Its ccache takes nothing that was compiled anywhere else (LOOM_CCACHE_ANYWHERE=OFF: a namespace
# of that path, and paths as they are), so a path that enters a binary is seen; another run finds what the last one compiled there.
other=${LIGHTLOOM_ELSEWHERE:-/var/tmp/lightloom-built-elsewhere/under/another/name}
mkdir -p "$other"
# Only what differs is written, with the instant at which it is: ninja compares instants, and a file that keeps an old one beside
# an object that was made since would not be compiled again.
(cd "$here" && { git -c safe.directory='*' ls-files -z --cached --others --exclude-standard 2>/dev/null ||
  find . -path ./build -prune -o -type f -printf '%P\0'; }) >"$pages/files"
(cd "$other" && find . -path ./build -prune -o -type f -printf '%P\0') | sort -z | comm -z -23 - <(sort -z "$pages/files") |
  (cd "$other" && xargs -0 --no-run-if-empty rm -f)
while IFS= read -r -d '' file; do
  if [ -e "$here/$file" ] && ! cmp -s "$here/$file" "$other/$file"; then
    mkdir -p "$(dirname "$other/$file")"
    cp --no-preserve=timestamps "$here/$file" "$other/$file"
  fi
done <"$pages/files"
# shellcheck disable=SC1091  # written by build.sh
. "$folder/BUILDINFO"
export LOOM_PACKAGE_VERSION SOURCE_DATE_EPOCH LOOM_ELSEWHERE=yes
"$here/packaging/build.sh" "$other/build/packages" "$other"
(cd "$other/build/packages" && sha256sum -c "$folder/SHA256SUMS") >&2 || {
  say "not the same; compare: diffoscope $folder/PACKAGE.deb $other/build/packages/PACKAGE.deb"
  exit 1
}
say "reproducible: $(wc -l <"$folder/SHA256SUMS") packages are the same bytes from $here and $other"

say "== a clean root"
"$here/packaging/clean_root.sh" "$folder"
say "package: all kept, in $((SECONDS - started)) s"
