#!/bin/bash
# check.sh [FOLDER]: checks the units, notifications and journal of the programs in FOLDER (.build/debug) in a real
# systemd user manager. If there can be none here, it prints "skipped:" with the reason, and succeeds. If the checks
# fail, they run once more. If they pass then, the check that failed is reported as flaky and added to the file
# $HEARTH_FLAKY.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
programs=$(cd "${1:-$root/.build/debug}" && pwd -P)

skip() {
  echo "skipped: $1"
  exit 0
}

for program in hearthd hearthctl hearth-oidc-agent hearth-sandbox; do
  [ -x "$programs/$program" ] || { echo "$programs/$program does not exist. Run \"swift build\" first." >&2; exit 1; }
done
for tool in unshare setpriv findmnt ip journalctl systemctl jq curl python3; do
  command -v "$tool" > /dev/null || skip "$tool is not installed (make deps-check)"
done
[ -x /lib/systemd/systemd ] || skip "systemd is not installed (make deps-check)"

privileged=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2> /dev/null || skip "setting up the namespaces needs root"
  privileged=(sudo -n)
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
make --no-print-directory -s -C "$root" install-units BINDIR=/run/hearth/bin UNITDIR="$stage/units"
for unit in "$root"/systemd/*@.service; do
  sed 's|@bindir@|/run/hearth/bin|' "$unit" > "$stage/$(basename "$unit" @.service)@robot.service"
done
cp "$root/systemd/sandbox.conf.example" "$here/checks.sh" "$here/checking.sh" "$stage/"
chmod -R a+rX "$stage"

# Debug programs load Swift's libraries from the toolchain, which may be in a folder that only root can read.
libraries=$(ldd "$programs/hearthd" | sed -n 's|.* => \(/.*\)/libswiftCore\.so .*|\1|p')
binds=(--bind "$programs" /run/hearth/bin --bind "$stage" /run/hearth/stage)
[ -z "$libraries" ] || binds+=(--bind "$libraries" /run/hearth/lib)

run() {
  local status=0
  "${privileged[@]}" "$here/user-manager.sh" "${binds[@]}" --catalog "$root/systemd/hearth.catalog" \
    bash /run/hearth/stage/checks.sh > "$stage/output" 2>&1 || status=$?
  if [ "$status" -eq 77 ]; then skip "$(tail -n 1 "$stage/output")"; fi
  cat "$stage/output"
  return "$status"
}

run && exit
flaky="systemd: $(sed -n 's/^check: //p' "$stage/output" | tail -n 1)"
echo "--- running the checks again"
run
echo "flaky (failed at first): $flaky"
[ -z "${HEARTH_FLAKY:-}" ] || echo "$flaky" >> "$HEARTH_FLAKY"
