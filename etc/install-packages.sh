#!/bin/sh
# install-packages.sh PACKAGE...: installs the Debian packages that are missing; says so where there is no apt.
set -eu
command -v dpkg-query > /dev/null || {
  echo "This is no Debian: make sure that the equivalents of these packages are installed: $*"
  exit 0
}
missing=
for package in "$@"; do
  case $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2> /dev/null) in
  installed) ;;
  *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "Installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
