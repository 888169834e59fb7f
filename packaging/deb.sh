#!/bin/sh
# deb.sh PROGRAMS VERSION OUTPUT: builds Debian packages from the programs in the folder PROGRAMS, in the folder OUTPUT.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
programs=$(cd "$1" && pwd -P)
version=$2
mkdir -p "$3"
output=$(cd "$3" && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$("$root/packaging/date.sh")}
export SOURCE_DATE_EPOCH

for program in hearthd hearthctl hearth-oidc-agent hearth-sandbox; do
  ! readelf --dynamic "$programs/$program" | grep -E 'R(UN)?PATH' || {
    echo "$programs/$program contains a library path. Build it with \"make build\", which sets none." >&2
    exit 1
  }
done
rm -rf "$output"
stage=$output/hearth-$version
mkdir -p "$stage"
cp -R "$root/packaging/debian" "$stage/debian"
cd "$stage/debian"
sed -i -e '/@managers@/{r managers.sh' -e 'd}' hearth.postinst hearth.prerm hearth.postrm
cat > changelog << CHANGELOG
hearth ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' control)  $(date --utc --date "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
CHANGELOG
cd "$stage"
# Hides the variables of the "make" that runs this script from the one that dpkg-buildpackage runs.
env -u MAKEFLAGS -u MAKELEVEL LC_ALL=C HEARTH_ROOT="$root" HEARTH_PROGRAMS="$programs" \
  dpkg-buildpackage --build=binary --no-sign > "$output/log" 2>&1 || { cat "$output/log" >&2; exit 1; }
rm -rf "$stage"
