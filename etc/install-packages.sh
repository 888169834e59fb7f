#!/bin/sh
# install-packages.sh PACKAGE...: installs the Debian packages that are missing. On other systems it only lists them.
# install-packages.sh --update: only updates the package lists.
set -eu
command -v dpkg-query > /dev/null || {
  echo "This system is not Debian. Make sure that the equivalents of these packages are installed: $*"
  exit 0
}
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

# Retries after network errors and waits for another running apt, within limits.
apt() {
  limit=$1
  shift
  $as_root timeout --foreground "$limit" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5 \
    -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=300 "$@"
}

update() {
  for _ in 1 2 3; do
    apt 300 update && return
    sleep 5
  done
  echo "Cannot update the package lists. Continuing with the existing ones." >&2
}

if [ "$1" = --update ]; then
  update
  exit
fi
missing=
for package in "$@"; do
  case $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2> /dev/null) in
  installed) ;;
  *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0
echo "Installing$missing"
update
# The installation itself has no time limit, because it must not be interrupted.
# shellcheck disable=SC2086
apt 900 install -y --no-install-recommends --download-only $missing
# shellcheck disable=SC2086
apt 0 install -y --no-install-recommends $missing
