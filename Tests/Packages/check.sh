#!/bin/bash
# check.sh [PROGRAMS]: makes packages of the programs in the folder PROGRAMS (.build/release) and checks them in minimal
# Debian systems in containers: install, upgrade, downgrade, remove, purge. Checks that cannot run here are skipped by
# name. The systems come from Debian's mirror and are kept in .build/packages/roots.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
programs=$(cd "${1:-$root/.build/release}" && pwd -P)
suites=(bookworm trixie)
# The usual packages of a desktop or server, those that the checks need, and the libraries that Hearth's packages depend
# on, because the containers have no network.
contents=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,ca-certificates,curl,jq,libsqlite3-0,libsodium23

skip() {
  echo "skipped: $1"
  exit 0
}
for tool in dpkg-buildpackage dh lintian; do
  command -v $tool > /dev/null || skip "$tool is not installed (make deps-check-packages)"
done
version=$(make --no-print-directory -s -C "$root" version)
stage=$(mktemp -d)
privileged=()
trap '${privileged[@]+"${privileged[@]}"} rm -rf "$stage"' EXIT
chmod 755 "$stage"

echo "check: no program exceeds its size limit"
while read -r program most; do
  size=$(stat --dereference --format %s "$programs/$program")
  [ "$size" -le $((most * 1000000)) ] || { echo "$program has $size bytes, more than $most MB"; exit 1; }
done <<END
hearthd 60
hearthctl 22
END

SOURCE_DATE_EPOCH=$("$root/packaging/date.sh")
export SOURCE_DATE_EPOCH
echo "check: the same programs give identical packages"
for copy in old again; do "$root/packaging/deb.sh" "$programs" "$version-1" "$stage/packages/$copy"; done
for package in "$stage"/packages/old/*.deb; do cmp "$package" "$stage/packages/again/$(basename "$package")"; done
rm -r "$stage/packages/again"
"$root/packaging/deb.sh" "$programs" "$version-2" "$stage/packages/new"

echo "check: lintian finds no errors"
lintian --allow-root --fail-on error --tag-display-limit 0 "$stage"/packages/old/*.changes

echo "check: the recipes have the archive's checksum, and the installed units have the path of the programs"
"$root/packaging/dist.sh" "$programs" "$version" "$stage/dist"
(cd "$stage/dist" && sha256sum --quiet --check SHA256SUMS)
sum=$(cd "$stage/dist" && sha256sum -- *.tar.gz | cut -d ' ' -f 1)
grep -q "^sha256sums=($sum)$" "$stage/dist/PKGBUILD"
grep -q "^  sha256 \"$sum\"$" "$stage/dist/hearth.rb"
if grep -E '@(version|machine|sha256)@' "$stage"/dist/{PKGBUILD,hearth.nix,hearth.rb}; then exit 1; fi
mkdir "$stage/archive"
tar --extract --strip-components 1 --file "$stage"/dist/*.tar.gz --directory "$stage/archive"
DESTDIR=$stage/installed "$stage/archive/install.sh" --prefix /opt/hearth > /dev/null
[ "$(grep -rh '^ExecStart=.*/opt/hearth/bin/hearth' --include='*.service' "$stage/installed" | wc -l)" -eq 4 ]
rm -r "$stage/dist" "$stage/archive" "$stage/installed"

for tool in systemd-nspawn mmdebstrap unshare findmnt; do
  command -v $tool > /dev/null || skip "$tool is not installed (make deps-check-packages)"
done
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2> /dev/null || skip "containers need root"
  privileged=(sudo -n)
fi
cp "$here/checks.sh" "$here/../Systemd/checking.sh" "$stage/packages/"
mkdir -p "$root/.build/packages/roots"
for suite in "${suites[@]}"; do
  echo "--- Debian $suite"
  system=$root/.build/packages/roots/$suite.tar
  if [ ! -e "$system" ]; then
    "${privileged[@]}" mmdebstrap --quiet --format=tar --variant=minbase --include=$contents "$suite" "$system.new" \
      && mv "$system.new" "$system" || { echo "skipped: Debian $suite cannot be downloaded"; continue; }
  fi
  "${privileged[@]}" mkdir "$stage/$suite"
  "${privileged[@]}" tar --extract --file "$system" --directory "$stage/$suite"
  status=0
  "${privileged[@]}" "$here/container.sh" "$stage/$suite" "$stage/packages" /bin/bash /hearth/checks.sh || status=$?
  [ $status -ne 77 ] || { echo "skipped: containers do not boot here"; continue; }
  [ $status -eq 0 ] || exit $status
done
