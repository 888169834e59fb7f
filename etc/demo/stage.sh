# shellcheck shell=bash
# Functions for demo.sh and run.sh: start a sandbox and a daemon in a temporary folder, and clean up at the end.
# Needs $programs, the folder with the programs, and $lifetime, the lifetime of access tokens in seconds.
# $margin_fraction is optional: the fraction of the lifetime that is left when a refresh is due.

# Do not use $TMPDIR, because its path may be too long for a socket (107 bytes).
stage=$(mktemp -d /tmp/hearth-demo.XXXXXX)
sandbox=
daemon=
issuer=
port=
export HEARTH_SOCKET=$stage/rpc.sock

clean_up() {
  local process
  for process in $daemon $sandbox; do kill -TERM "$process" 2> /dev/null || true; done
  for process in $daemon $sandbox; do wait "$process" 2> /dev/null || true; done
  rm -rf "$stage"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts the sandbox. If it ran before, it gets the same address and keeps its state.
start_sandbox() {
  # Create the log first, because it may be read below before the sandbox opens it.
  : > "$stage/sandbox.log"
  "$programs/hearth-sandbox" --port "${port:-0}" --state "$stage/sandbox.json" --token-lifetime "$lifetime" \
    > "$stage/sandbox.log" 2>&1 &
  sandbox=$!
  local _
  for _ in $(seq 600); do
    issuer=$(sed -n 's/^listening on //p' "$stage/sandbox.log")
    if [ -n "$issuer" ]; then port=${issuer##*:}; return 0; fi
    sleep 0.05
  done
  echo "The sandbox did not start:" >&2
  cat "$stage/sandbox.log" >&2
  return 1
}

write_configuration() {
  cat > "$stage/config.toml" << TOML
[accounts.demo]
type        = "oidc"
issuer      = "$issuer"
client_id   = "hearth"
scopes      = ["openid", "offline_access"]
api_origins = ["$issuer"]

[refresh]
margin_fraction = ${margin_fraction:-0.2}
backoff_initial = "500ms"
backoff_max     = "2s"

[outbox]
retry_initial = "500ms"
retry_max     = "2s"
TOML
  chmod 600 "$stage/config.toml"
}

start_daemon() {
  "$programs/hearthd" --config "$stage/config.toml" --socket "$HEARTH_SOCKET" --state-dir "$stage/state" \
    2> "$stage/daemon.log" &
  daemon=$!
  local _
  for _ in $(seq 600); do
    if hearthctl rpc daemon.getInfo > /dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  echo "The daemon did not start:" >&2
  cat "$stage/daemon.log" >&2
  return 1
}

hearthctl() { "$programs/hearthctl" "$@"; }

# A script that acts as a person with a browser.
BROWSER=$(cd "$(dirname "$0")" && pwd)/browser.py
export BROWSER
