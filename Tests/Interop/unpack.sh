#!/bin/sh
# unpack.sh FOLDER PACKAGE...: unpacks Debian packages below FOLDER without installing them, then creates the file
# "ready". Prints the packages that this Debian does not have. If a download fails, it unpacks none.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
command -v apt-get > /dev/null || { echo "This system is not Debian, so it has no Debian packages."; exit 1; }
"$root/etc/install-packages.sh" --update || true
known=
for package in "$@"; do
  if apt-cache show --quiet "$package" > /dev/null 2>&1; then
    known="$known $package"
  else
    echo "This Debian has no package $package. The checks that need it are skipped."
  fi
done
# shellcheck disable=SC2086
timeout 600 apt-get -qq -o APT::Sandbox::User=root -o Acquire::Retries=5 -o Acquire::http::Timeout=30 \
  download $known || {
  echo "The packages cannot be downloaded."
  exit 1
}
for file in ./*.deb; do
  dpkg-deb --extract "$file" .
  rm "$file"
done
touch ready
