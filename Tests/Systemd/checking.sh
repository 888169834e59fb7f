# Read first by scripts of checks. They define details, which prints what helps to understand a failure, and limit: what is
# waited for comes within so many seconds, also on a slow and busy machine.
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

# await COMMAND...: until COMMAND succeeds
await() {
  local deadline=$((SECONDS + limit))
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || fail "not within $limit s: $*"
    sleep 0.05
  done
}
