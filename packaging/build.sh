#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/build.sh FOLDER [TREE]: the packages of this tree (or of TREE, with this one's version) into FOLDER, which is emptied.
# What they hold depends on the commit alone: the version is git's, every time is the commit's.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
tree=${2:-$here}

release=$(sed -n 's/^project(lightloom VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
version=${LOOM_PACKAGE_VERSION:-$(cmake -DTREE="$here" -DRELEASE="$release" -P "$here/cmake/version.cmake")}
# Without git: when CHANGELOG.md was last changed, which a copy keeps.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' -C "$here" log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/CHANGELOG.md")}
# Not for the compiler: ccache takes another locale for another compilation.
export SOURCE_DATE_EPOCH
umask 022

cd "$tree"
mkdir -p build
printf 'package: version %s, from %s\n' "$version" "$tree" >&2
# Its own build folder: laid out as Debian has it, with the packages' version and nothing that a test needs. What ./dev build has
# compiled is taken from ccache.
options=()
[ -z "${LOOM_ELSEWHERE:-}" ] || options=(-DLOOM_CCACHE_ANYWHERE=OFF)
if ! cmake --preset package "${options[@]}" -DLOOM_VERSION="$version" -DLOOM_PACKAGE_VERSION="$version" >build/configure-package.log 2>&1; then
  cat build/configure-package.log >&2
  exit 1
fi
cmake --build build/package -j "${JOBS:-$(nproc)}" --target package_contents >&2
cd build/package
rm -rf _CPack_Packages packaging/out
mkdir -p packaging/out
if ! LC_ALL=C TZ=UTC cpack -B packaging/out >packaging/cpack.log 2>&1; then
  cat packaging/cpack.log >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
cp packaging/out/*.deb "$folder/"
# What a second build repeats, and what it is compared with.
printf 'LOOM_PACKAGE_VERSION=%s\nSOURCE_DATE_EPOCH=%s\n' "$version" "$SOURCE_DATE_EPOCH" >"$folder/BUILDINFO"
(cd "$folder" && sha256sum -- *.deb >SHA256SUMS)
ls -l "$folder"/*.deb >&2
