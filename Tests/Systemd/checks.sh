#!/bin/bash
# The checks, which check.sh runs as an unprivileged user inside user-manager.sh.
limit=30
details() {
  echo "--- the service"
  systemctl --user status --no-pager --lines=0 hearthd.service hearthd.socket || true
  echo "--- its journal"
  journalctl --user --no-pager --output=short --lines=60
}
. "$(dirname "$0")/checking.sh"
export LD_LIBRARY_PATH=/run/hearth/lib PATH=/run/hearth/bin:$PATH
units=$HOME/.config/systemd/user
config=$HOME/.config/hearth/config.toml
socket=$XDG_RUNTIME_DIR/hearth/rpc.sock

of_service() { systemctl --user show --property="$1" --value hearthd.service; }
records() { journalctl --user --output=json SYSLOG_IDENTIFIER=hearthd "$@"; }
has_record() { records HEARTH_EVENT="$1" | jq --exit-status --slurp "any(.[]; ${2:-true})"; }
state_of_work() { hearthctl status work --json | jq --raw-output '.. | .state? // empty' | head -n 1; }
work_is() { [ "$(state_of_work)" = "$1" ]; }
main_pid_is_other_than() { [ "$(of_service MainPID)" != "$1" ] && [ "$(of_service ActiveState)" = active ]; }

# Starts hearth-oidc-agent's socket, asks as an oidc-agent client does, and expects the same token as hearthctl's.
agent_is_asked() {
  local token given
  token=$(hearthctl token work)
  systemctl --user start hearth-oidc-agent.socket
  given=$(python3 - "$(dirname "$socket")/oidc-agent.sock" <<'PYTHON'
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"request":"access_token","account":"work"}')
print(b"".join(iter(lambda: client.recv(4096), b"")).decode())
PYTHON
)
  [ "$(jq --raw-output .access_token <<< "$given")" = "$token" ] || fail "the agent answers $given"
  systemctl --user stop hearth-oidc-agent.socket hearth-oidc-agent.service
  [ "$(systemctl --user show --property=Result --value hearth-oidc-agent.service)" = success ] || fail "the agent failed"
}

hearth-sandbox --port 0 > "$HOME/sandbox.log" &
sandbox=$!
trap 'kill $sandbox 2> /dev/null' EXIT
await grep -q "^listening on " "$HOME/sandbox.log"
issuer=$(sed -n 's/^listening on //p' "$HOME/sandbox.log")
grant=$(curl -sS -X POST "$issuer/__grant" -d '{"subject":"2482"}' | jq --raw-output .refresh_token)

mkdir -p "$units" "$(dirname "$config")"
cp /run/hearth/stage/units/* "$units/"
for service in hearthd hearth-oidc-agent; do
  mkdir -p "$units/$service.service.d"
  printf '[Service]\nEnvironment=LD_LIBRARY_PATH=%s\n' "$LD_LIBRARY_PATH" > "$units/$service.service.d/libraries.conf"
done
cat > "$config" <<TOML
[accounts.work]
type = "oidc"
issuer = "$issuer"
client_id = "hearth"
api_origins = ["$issuer"]
TOML
chmod 600 "$config"
systemctl --user daemon-reload

check "the units have no errors"
systemd-analyze --user verify "$units"/*.service "$units"/*.socket > "$HOME/verify" 2>&1 || true
[ ! -s "$HOME/verify" ] || fail "systemd-analyze: $(cat "$HOME/verify")"

check "no unit is more exposed than etc/docs/operators.md says"
# exposed_at_most NUMBER OPTION... UNIT: fails if systemd-analyze rates the unit higher than NUMBER / 10
exposed_at_most() {
  systemd-analyze security --no-pager --threshold="$@" > "$HOME/security" || fail "$(tail -n 1 "$HOME/security")"
}
exposed_at_most 65 --user hearthd.service
exposed_at_most 61 --user hearth-oidc-agent.service
exposed_at_most 16 --offline=yes /run/hearth/stage/hearthd@robot.service
exposed_at_most 13 --offline=yes /run/hearth/stage/hearth-metrics@robot.service

check "the socket belongs only to the user, and starts nothing before a call"
systemctl --user start hearthd.socket
[ "$(stat -c %a "$socket") $(stat -c %a "$(dirname "$socket")")" = "600 700" ] || fail "modes of $socket"
[ "$(of_service ActiveState)" = inactive ] || fail "hearthd runs before the first call"

check "the first call starts the daemon and is answered"
first=$(hearthctl rpc daemon.getInfo)
pid=$(jq .pid <<< "$first")
[ "$(of_service ActiveState)" = active ] || fail "hearthd is $(of_service ActiveState) after the first call"
[ "$(of_service MainPID)" = "$pid" ] || fail "process $pid answered, which is not the service"

check "the daemon cannot dump core, be traced or gain privileges"
grep -Eq '^Max core file size +0 +0 ' "/proc/$pid/limits" || fail "core dumps are possible"
[ "$(stat -c %u "/proc/$pid/environ")" = 0 ] || fail "the process is dumpable"
grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$pid/status" || fail "the process may gain privileges"

check "a session is signed in and an item waits in the outbox"
printf '%s\n' "$grant" | hearthctl login work --refresh-token-stdin > /dev/null
await work_is authenticated
hearthctl outbox pause work > /dev/null
hearthctl outbox add work POST "$issuer/api/notes" --data one --key systemd-check > /dev/null
pending() { [ "$(hearthctl outbox stats work --json | jq .pending)" = "$1" ]; }
await pending 1

check "status shows the line the daemon sent"
shows_its_line() {
  local line
  line=$(of_service StatusText)
  [ -n "$line" ] && systemctl --user status --no-pager hearthd.service | grep -F "Status: \"$line\""
}
await shows_its_line

check "after SIGKILL, systemd restarts the daemon with its session and outbox"
systemctl --user kill --signal=KILL --kill-whom=main hearthd.service
await main_pid_is_other_than "$pid"
[ "$(of_service NRestarts)" = 1 ] || fail "restarted $(of_service NRestarts) times"
await work_is authenticated
pending 1 || fail "the outbox has lost its item"
hearthctl outbox resume work > /dev/null
hearthctl outbox flush work > /dev/null
effects=$(curl -sS "$issuer/__stats" | jq '[.effects[] | select(.path == "/api/notes")] | length')
[ "$effects" = 1 ] || fail "the item took effect $effects times"

check "the journal has events with their fields"
await has_record daemon.started '.HEARTH_VERSION != null and .MESSAGE_ID != null and .PRIORITY == "6"'
await has_record session.changed '.HEARTH_ACCOUNT == "work" and .HEARTH_STATE == "authenticated" and .PRIORITY == "5"'
await has_record session.signedIn '.HEARTH_ACCOUNT == "work" and .HEARTH_SUBJECT != null'
await has_record outbox.paused '.HEARTH_ACCOUNT == "work" and .HEARTH_REASON != null and .PRIORITY == "5"'
bare=$(records | jq --slurp '[.[] | select(.HEARTH_EVENT == null or .MESSAGE_ID == null)] | length')
[ "$bare" = 0 ] || fail "$bare records name no event: $(records | jq -r 'select(.HEARTH_EVENT == null).MESSAGE')"

check "the catalog explains each event of the journal"
explained=$(journalctl --user --no-pager --catalog HEARTH_EVENT=daemon.started)
grep -q "Subject: Hearth has started" <<< "$explained" || fail "no catalog entry is shown"
grep -q "Defined-By: Hearth" <<< "$explained" || fail "the entry is not Hearth's"

check "SIGHUP reloads the configuration"
systemctl --user kill --signal=HUP --kill-whom=main hearthd.service
await has_record daemon.reloaded

check "a reload with a configuration error fails and names the line, and the previous configuration stays in use"
cp "$config" "$config.good"
echo 'nonsense = 1' >> "$config"
if systemctl --user reload hearthd.service 2> /dev/null; then fail "the reload succeeded"; fi
has_reason() { journalctl --user --no-pager --unit hearthd.service | grep "hearthctl\[.*nonsense"; }
await has_reason
[ "$(of_service ActiveState)" = active ] || fail "the daemon is $(of_service ActiveState)"
mv "$config.good" "$config"
systemctl --user reload hearthd.service || fail "the reload failed"

check "the watchdog restarts a daemon that hangs"
[ "$(of_service WatchdogUSec)" = 30s ] || fail "WatchdogUSec=$(of_service WatchdogUSec)"
printf '[Service]\nWatchdogSec=8\n' > "$units/hearthd.service.d/watchdog.conf"
systemctl --user daemon-reload
systemctl --user restart hearthd.service
# The daemon notifies systemd every 4 s. Without notifications, it would have been killed by the second one.
alive=$(of_service WatchdogTimestampMonotonic)
is_heard_again() { [ "$(of_service WatchdogTimestampMonotonic)" != "$alive" ]; }
await is_heard_again
alive=$(of_service WatchdogTimestampMonotonic)
await is_heard_again
pid=$(of_service MainPID)
[ "$(of_service NRestarts)" = 0 ] || fail "the watchdog killed a healthy daemon"
kill -STOP "$pid"
await main_pid_is_other_than "$pid"
await work_is authenticated
rm "$units/hearthd.service.d/watchdog.conf"
systemctl --user daemon-reload

check "SIGTERM stops the daemon cleanly, and the next call starts it again"
pid=$(of_service MainPID)
# Without a running request it stops at once. With one, it could take 35 s.
timeout "$limit" systemctl --user stop hearthd.service || fail "not stopped within $limit s"
[ "$(of_service Result) $(of_service ExecMainStatus)" = "success 0" ] || fail "ended with $(of_service Result)"
await has_record daemon.stopping "._PID == \"$pid\""
systemctl --user start hearthd.socket
await work_is authenticated

check "with a configuration error the daemon exits with status 78, and systemd does not restart it"
systemctl --user stop hearthd.socket hearthd.service
cp "$config" "$HOME/config.toml.good"
echo 'type = ' >> "$config"
if systemctl --user start hearthd.service 2> /dev/null; then fail "the daemon started with a broken configuration"; fi
[ "$(of_service ExecMainStatus)" = 78 ] || fail "status $(of_service ExecMainStatus)"
has_failed() { [ "$(of_service ActiveState)" = failed ]; }
await has_failed
[ "$(of_service NRestarts)" = 0 ] || fail "systemd restarted it"
await has_record daemon.configurationRefused '.PRIORITY == "3"'
refusals() { journalctl --user -q -o cat HEARTH_EVENT=daemon.configurationRefused | wc -l; }
are_more_refusals() { [ "$(refusals)" -gt "$before" ]; }
before=$(refusals)
if hearthctl status 2> "$HOME/refusal"; then fail "a call succeeded with a broken configuration"; fi
grep -q "cannot start: .*config.toml" "$HOME/refusal" || fail "the caller does not learn why: $(cat "$HOME/refusal")"
await are_more_refusals
[ "$(refusals)" -eq $((before + 1)) ] || fail "one call started the daemon $(($(refusals) - before)) times"
cp "$HOME/config.toml.good" "$config"
systemctl --user reset-failed
systemctl --user start hearthd.service
await work_is authenticated

check "the daemon serves each ListenStream= of a drop-in, and reports a port"
systemctl --user stop hearthd.socket hearthd.service
mkdir -p "$units/hearthd.socket.d"
printf '[Socket]\nListenStream=%s\nListenStream=127.0.0.1:29752\n' "%t/hearth/second.sock" \
  > "$units/hearthd.socket.d/second.conf"
systemctl --user daemon-reload
systemctl --user start hearthd.socket
second=$(dirname "$socket")/second.sock
for path in "$second" "$socket"; do
  [ "$(hearthctl rpc daemon.getInfo --socket "$path" | jq .pid)" = "$(of_service MainPID)" ] || fail "$path is not served"
done
has_complaint() { records | jq --exit-status --slurp 'any(.[]; .MESSAGE | contains("a TCP socket (descriptor 5)"))'; }
await has_complaint
printf '[Socket]\nListenStream=\nListenStream=127.0.0.1:29753\n' > "$units/hearthd.socket.d/second.conf"
systemctl --user stop hearthd.socket hearthd.service
systemctl --user daemon-reload
systemctl --user start hearthd.socket
told=$(timeout "$limit" bash -c 'cat < /dev/tcp/127.0.0.1/29753')
grep -q "no socket that Hearth can serve" <<< "$told" || fail "the caller gets: $told"
await has_failed
[ "$(of_service ExecMainStatus) $(of_service NRestarts)" = "78 0" ] || fail "ended with $(of_service ExecMainStatus)"
rm -r "$units/hearthd.socket.d"
systemctl --user stop hearthd.socket
systemctl --user daemon-reload
systemctl --user reset-failed
systemctl --user start hearthd.socket hearthd.service
await work_is authenticated

check "the daemon restores a socket after its folder was removed, and systemd does after a restart of the socket unit"
rm -r "$(dirname "$socket")"
await work_is authenticated
hearthctl doctor | grep -q "systemctl --user restart hearthd.socket" || fail "doctor does not report it"
systemctl --user kill --signal=KILL --kill-whom=main hearthd.service
await work_is authenticated
systemctl --user restart hearthd.socket
await work_is authenticated
if hearthctl doctor | grep -q "systemctl --user restart hearthd.socket"; then fail "doctor still reports it"; fi

check "the daemon works with the sandbox drop-in"
if unshare --user --map-root-user --mount true 2> /dev/null; then
  for service in hearthd hearth-oidc-agent; do
    cp /run/hearth/stage/sandbox.conf.example "$units/$service.service.d/sandbox.conf"
  done
  systemctl --user daemon-reload
  exposed_at_most 19 --user hearthd.service
  exposed_at_most 15 --user hearth-oidc-agent.service
  systemctl --user restart hearthd.service
  await work_is authenticated
  hearthctl refresh work > /dev/null
  agent_is_asked
  rm "$units"/*.service.d/sandbox.conf
  systemctl --user daemon-reload
else
  echo "skipped: users may not create user namespaces here"
fi

check "a key from LoadCredential= opens the credential that it sealed, and without it the session is locked"
state_of_vault() { hearthctl status vault --json | jq --raw-output '.. | .state? // empty' | head -n 1; }
vault_is() { [ "$(state_of_vault)" = "$1" ]; }
head -c 32 /dev/urandom > "$HOME/vault.key"
cat >> "$config" <<TOML
[accounts.vault]
type = "oidc"
issuer = "$issuer"
client_id = "hearth"
protection = "key-file"
key_file = "%d/vault.key"
TOML
hand_over() {
  printf '[Service]\nLoadCredential=%s:%s\n' "$1" "$HOME/vault.key" > "$units/hearthd.service.d/credential.conf"
  systemctl --user daemon-reload
  systemctl --user restart hearthd.service
}
hand_over vault.key
curl -sS -X POST "$issuer/__grant" -d '{"subject":"2482"}' | jq --raw-output .refresh_token \
  | hearthctl login vault --refresh-token-stdin > /dev/null
await vault_is authenticated
[ "$(jq 'has("sealed")' "$HOME/.local/state/hearth/credentials/vault.json")" = true ] || fail "the credential is not sealed"
hand_over other.key
await vault_is locked
[ "$(hearthctl status vault --json | jq --raw-output '.. | .reason? // empty' | head -n 1)" = keyUnavailable ] \
  || fail "the session is locked for another reason"
hand_over vault.key
await vault_is authenticated
rm "$units/hearthd.service.d/credential.conf"
cp "$HOME/config.toml.good" "$config"
systemctl --user daemon-reload
systemctl --user restart hearthd.service
await work_is authenticated

check "the browser for an ended session opens outside the unit, on a display that appeared later"
mkdir -p "$HOME/bin"
cat > "$HOME/bin/xdg-open" <<'SH'
#!/bin/sh
{ echo "$1 $WAYLAND_DISPLAY"; cat /proc/self/cgroup; grep NoNewPrivs /proc/self/status; } > "$HOME/opened.new"
mv "$HOME/opened.new" "$HOME/opened"
SH
chmod 700 "$HOME/bin/xdg-open"
printf '[Service]\nEnvironment=PATH=%s\n' "$HOME/bin:$PATH" > "$units/hearthd.service.d/path.conf"
echo 'on_reauth = "browser"' >> "$config"
systemctl --user daemon-reload
systemctl --user restart hearthd.service
systemctl --user set-environment WAYLAND_DISPLAY=wayland-7
await work_is authenticated
curl -sS -X POST "$issuer/__revoke" -d '{}' > /dev/null
if hearthctl refresh work 2> /dev/null; then fail "a revoked grant was refreshed"; fi
await test -e "$HOME/opened"
grep -q "^$issuer/authorize?.* wayland-7$" "$HOME/opened" || fail "opened: $(cat "$HOME/opened")"
if grep -q hearthd.service "$HOME/opened"; then fail "the browser runs in the daemon's unit"; fi
grep -q '^NoNewPrivs:[[:space:]]*0' "$HOME/opened" || fail "the browser may gain no privileges"
rm "$units/hearthd.service.d/path.conf"
curl -sS -X POST "$issuer/__grant" -d '{"subject":"2482"}' | jq --raw-output .refresh_token \
  | hearthctl login work --refresh-token-stdin > /dev/null
await work_is authenticated

check "oidc-agent's clients get a token, and the first one starts hearth-oidc-agent"
token=$(hearthctl token work)
agent_is_asked

check "the journal contains no token and no sign-in address"
pid=$(of_service MainPID)
systemctl --user stop hearthd.socket hearthd.service
await has_record daemon.stopping "._PID == \"$pid\""
journalctl --user --output=json --all > "$HOME/journal"
for secret in "$grant" "$token"; do
  if grep -qF "$secret" "$HOME/journal"; then fail "a token is in the journal"; fi
done
if grep -q '/authorize?' "$HOME/journal"; then fail "a sign-in address is in the journal"; fi

echo "All $checked checks passed."
