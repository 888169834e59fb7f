# Sourced by the scripts of checks. They first define the function details, which prints what helps to understand a
# failure, and limit, the time in seconds to wait for anything, long enough for a slow and busy machine.
set -euE
checked=0

check() {
  checked=$((checked + 1))
  echo "check: $1"
}

fail() {
  echo "failed: $1"
  details || true
  exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# await COMMAND...: waits until COMMAND succeeds
await() {
  local deadline=$((SECONDS + limit))
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || fail "this did not succeed within $limit s: $*"
    sleep 0.05
  done
}
