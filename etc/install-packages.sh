#!/bin/sh
# install-packages.sh PACKAGE...: installs the Debian packages that are missing; says so where there is no apt.
# install-packages.sh --update: only has the lists of packages renewed.
set -eu
command -v dpkg-query > /dev/null || {
  echo "This is no Debian: make sure that the equivalents of these packages are installed: $*"
  exit 0
}
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

# A network that fails for a moment, and another apt at work, are waited for, but not for ever.
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
  echo "The lists of packages cannot be renewed: going on with those that there are." >&2
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
# Downloaded first, within a limit: what installs is not to be ended halfway.
# shellcheck disable=SC2086
apt 900 install -y --no-install-recommends --download-only $missing
# shellcheck disable=SC2086
apt 0 install -y --no-install-recommends $missing
