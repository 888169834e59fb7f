#!/bin/bash
# demo.sh FOLDER: demonstrates Hearth's main features with the programs in FOLDER, and checks each step.
set -eu
programs=$1
lifetime=12
# A refresh is due after 2 to 3 s, so that a token does not expire even if the machine stalls for 9 s.
margin_fraction=0.75
# The time limit for each wait, in seconds. It is long enough for a slow and busy machine.
limit=30
. "$(dirname "$0")/stage.sh"

step() { printf '\n\033[1m%s\033[0m\n' "$1" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[01]m//g'; fi; }

fail() {
  echo
  echo "FAILED: $1"
  echo "--- the daemon's log"
  tail -n 40 "$stage/daemon.log"
  exit 1
}

# show STATUS WORD...: runs hearthctl WORD..., shows its output, and fails unless it exits with STATUS.
show() {
  local wanted=$1 status=0 word line='$ hearthctl'
  shift
  for word in "$@"; do
    case $word in *' '*) line+=" '$word'" ;; *) line+=" $word" ;; esac
  done
  echo "$line"
  hearthctl "$@" 2>&1 | sed 's/^/  /' || true
  status=${PIPESTATUS[0]}
  [ "$status" -eq "$wanted" ] || fail "exit status $status instead of $wanted"
}

# await COMMAND...: waits until COMMAND succeeds.
await() {
  local deadline=$((SECONDS + limit))
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || fail "this did not succeed within $limit s: $*"
    sleep 0.1
  done
}

session() { hearthctl rpc session.get '{"account":"demo"}' | jq --raw-output "$1"; }
state_is() { [ "$(session .state)" = "$1" ]; }
refreshing_fails() { [ "$(session '.token.health == "expired" and .refresh.failures > 0')" = true ]; }
outbox() { hearthctl rpc outbox.getStats '{"account":"demo"}' | jq "$1"; }
delivered() { curl --silent "$issuer/__stats" | jq --exit-status "[.effects[].body] == $1" > /dev/null; }
sign_in() {
  echo "  (the browser is a script that logs in as ada, with her password, and consents)"
  show 0 login demo
  state_is authenticated || fail "there is no session after the sign-in"
}

echo "Hearth's main job, with access tokens that live for $lifetime seconds."
start_sandbox
write_configuration
start_daemon

step "1. Signed in"
show 3 status demo
sign_in
show 0 status demo

step "2. Refreshed ahead of expiry, three times"
refreshed=0
last=$(session .token.fingerprint)
deadline=$((SECONDS + 3 * limit))
while [ "$refreshed" -lt 3 ]; do
  [ "$SECONDS" -lt "$deadline" ] || fail "the token was refreshed only $refreshed times"
  read -r fingerprint remaining <<< "$(session '"\(.token.fingerprint) \(.token.remainingSeconds)"')"
  [ "${remaining%.*}" -ge 0 ] || fail "a token expired before it was refreshed"
  if [ "$fingerprint" != "$last" ]; then
    refreshed=$((refreshed + 1))
    echo "  token $last is now $fingerprint, good for ${remaining%.*} s more"
    last=$fingerprint
  fi
  sleep 0.1
done
[ "$(curl --silent "$issuer/__stats" | jq .unauthorized)" -eq 0 ] || fail "the API rejected a token"

step "3. Written offline, delivered when the API is back"
kill -TERM "$sandbox"
wait "$sandbox" || true
echo "  (provider and API are down)"
show 0 outbox add demo POST "$issuer/api/notes" --data "written on a train"
await refreshing_fails
state_is authenticated || fail "being offline ended the session"
[ "$(outbox '.pending + .waiting + .inFlight')" -eq 1 ] || fail "the item is not waiting"
show 5 status demo
start_sandbox
echo "  (they are back)"
await delivered '["written on a train"]'
echo "  delivered, once"

step "4. Locked and unlocked"
show 0 lock demo
show 4 token demo
show 0 unlock demo
await state_is authenticated
[ -n "$(hearthctl token demo)" ] || fail "there is no token after unlocking"

step '5. Revoked by the provider, and `status` says so'
curl --silent -d '{"subject":"ada"}' "$issuer/__revoke" > /dev/null
await state_is reauthRequired
show 3 status demo
show 0 outbox add demo POST "$issuer/api/notes" --data "written signed out"
[ "$(outbox .paused)" = true ] || fail "the outbox is not paused"

step "6. Signed in again, the waiting item delivered"
sign_in
await delivered '["written on a train", "written signed out"]'
show 0 outbox stats demo

step "7. Stopped"
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
[ "$status" -eq 0 ] || fail "the daemon exited with $status"
daemon=
if grep --quiet --fixed-strings "$(jq --raw-output .grant.refreshToken "$stage/state/credentials/demo.json")" \
  "$stage/daemon.log"; then
  fail "a token is in the log"
fi
echo "  The daemon's log:"
sed 's/^/  /' "$stage/daemon.log"

step "All of it works. It took $SECONDS s, and nothing is left running."
