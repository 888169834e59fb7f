#!/bin/sh
# dist.sh PROGRAMS VERSION OUTPUT: builds an archive for any distribution from the programs in the folder PROGRAMS, with
# an SBOM, SHA-256 sums, and recipes for Arch, Nix and Homebrew, in the folder OUTPUT.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
programs=$(cd "$1" && pwd -P)
version=$2
mkdir -p "$3"
output=$(cd "$3" && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$("$root/packaging/date.sh")}
export SOURCE_DATE_EPOCH
name=hearth-$version-linux-$(uname -m)

rm -rf "$output"
mkdir -p "$output/$name"
make --silent -C "$root" install DESTDIR="$output/$name/files" PREFIX=/ BINDIR=/bin DOCDIR=/share/doc/hearth \
  MANDIR=/share/man UNITDIR=/lib/systemd/user RELEASE="$programs" HELPERS="$programs" > /dev/null
# install.sh fills in the path of the programs.
for unit in "$output/$name"/files/lib/systemd/user/* "$output/$name"/files/share/doc/hearth/*.service; do
  cp "$root/systemd/$(basename "$unit")" "$unit"
done
cp "$root/packaging/install.sh" "$root/README.md" "$root/LICENSE" "$output/$name/"
tar --create --directory "$output" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --format=gnu --mode='u=rwX,go=rX' "$name" | gzip --no-name > "$output/$name.tar.gz"
rm -rf "${output:?}/$name"
"$root/packaging/sbom.py" "$version" "$programs" > "$output/hearth-$version.spdx.json"
cd "$output"
sum=$(sha256sum "$name.tar.gz" | cut -d ' ' -f 1)
for recipe in PKGBUILD hearth.nix hearth.rb; do
  sed "s/@version@/$version/g; s/@machine@/$(uname -m)/g; s/@sha256@/$sum/g" "$root/packaging/$recipe" > "$recipe"
done
sha256sum -- * > SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
