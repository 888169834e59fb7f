#!/bin/sh
# install.sh [--prefix FOLDER | --user] [--uninstall]: installs Hearth below FOLDER (default /usr/local), or below
# ~/.local with --user. --uninstall removes it, but keeps state and configuration. $DESTDIR is prepended to every path.
set -eu
prefix=/usr/local
user=
uninstall=
fail() {
  echo "install.sh: $1" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
  --prefix)
    [ $# -gt 1 ] || fail "--prefix needs a folder"
    prefix=$2
    shift
    ;;
  --prefix=*) prefix=${1#--prefix=} ;;
  --user) user=1 ;;
  --uninstall) uninstall=1 ;;
  -h | --help)
    sed -n '2,3s/^# //p' "$0"
    exit
    ;;
  *) fail "unknown option $1. Run install.sh --help." ;;
  esac
  shift
done
[ -z "$user" ] || prefix=$HOME/.local
case $prefix in /*) ;; *) fail "--prefix needs an absolute path, but $prefix is relative" ;; esac
prefix=${prefix%/}
files=$(cd "$(dirname "$0")/files" && pwd)

# place FILE: prints where to install a file of the archive, or nothing to leave it out
place() {
  case $user:$1 in
  1:lib/systemd/user/*) echo "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/${1#lib/systemd/user/}" ;;
  # The journal reads catalogs only from the system's folders.
  1:lib/systemd/*) ;;
  *) echo "$prefix/$1" ;;
  esac
}

# each COMMAND: runs COMMAND for each file of the archive, with the file and its target
each() {
  (cd "$files" && find . -type f | sed 's|^\./||' | sort) | while IFS= read -r file; do
    target=$(place "$file")
    [ -z "$target" ] || "$1" "$files/$file" "${DESTDIR:-}$target" || exit 1
  done
}

install_file() {
  mode=644
  [ ! -x "$1" ] || mode=755
  mkdir -p "$(dirname "$2")"
  # Replaces the file, because a running program cannot be overwritten.
  case $1 in
  *.service) sed "s|@bindir@|$prefix/bin|" "$1" > "$2.new" ;;
  *) cp "$1" "$2.new" ;;
  esac
  chmod $mode "$2.new"
  mv "$2.new" "$2"
}

remove_file() {
  rm -f "$2"
  rmdir -p "$(dirname "$2")" 2> /dev/null || true
}

if [ -n "$uninstall" ]; then
  each remove_file
  echo "Removed. Your state and configuration are kept."
  exit
fi

if [ -z "${DESTDIR:-}" ]; then
  missing=$(for program in "$files"/bin/*; do ldd "$program" 2> /dev/null | sed -n 's/^[[:space:]]*\(.*\) => not found$/\1/p'; done | sort -u)
  [ -z "$missing" ] || fail "these libraries are missing: $(echo $missing). Nothing was installed."
  "$files/bin/hearthd" --version > /dev/null 2>&1 || fail "hearthd cannot run here: $("$files/bin/hearthd" --version 2>&1 || true)"
fi
umask 022
each install_file
[ -n "$user" ] || [ -n "${DESTDIR:-}" ] || journalctl --update-catalog 2> /dev/null || true
echo "Installed. To start Hearth now and at each login, run:"
echo "  systemctl --user daemon-reload && systemctl --user enable --now hearthd.service hearthd.socket"
