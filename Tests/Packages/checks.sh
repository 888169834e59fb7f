#!/bin/bash
# The checks, which check.sh runs as root in a booted container. ada uses Hearth; ben has disabled it.
# /hearth/old and /hearth/new have the packages of two versions.
limit=60
details() {
  tail -n 40 /tmp/apt.log 2> /dev/null || true
  journalctl --no-pager --lines=40
}
. "$(dirname "$0")/checking.sh"
: > /check.began
issuer=http://127.0.0.1:8790
services="hearthd.service hearthd.socket hearth-oidc-agent.service hearth-oidc-agent.socket"

# as USER COMMAND...: runs COMMAND as USER
as() {
  local user=$1
  shift
  setpriv --reuid "$user" --regid "$user" --init-groups env -i PATH=/usr/bin:/bin HOME="/home/$user" USER="$user" \
    LANG=C.UTF-8 XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" "$@"
}
ada() { as ada "$@"; }
ben() { as ben "$@"; }
manager_runs() { as "$1" systemctl --user is-active default.target; }
# states USER: prints the states of the user's units on one line
states() { as "$1" systemctl --user is-active $services | tr '\n' ' '; }
main_pid() { ada systemctl --user show --property MainPID --value hearthd.service; }
install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --allow-downgrades --no-install-recommends \
    "/hearth/$1"/hearth_*.deb "/hearth/$1"/hearth-sandbox_*.deb > /tmp/apt.log 2>&1 || fail "apt-get"
}
add_account() {
  as "$1" hearthctl account add work --issuer "$issuer" --client-id any --api-origin "$issuer" > /dev/null < /dev/null
  curl -sS -X POST "$issuer/__grant" -d "{\"subject\":\"$1\"}" | jq --raw-output .refresh_token |
    as "$1" hearthctl login work --refresh-token-stdin > /dev/null
}
session() { ada hearthctl rpc session.get '{"account":"work"}' | jq -c '[.state, .subject, .issuer, .token.fingerprint]'; }
pending() { ada hearthctl outbox stats work --json | jq .pending; }
# The files of ben's daemon, with the times of their last changes.
kept_by_ben() { find /home/ben -type f -printf '%p %s %T@ %m %u\n' | sort; }

await manager_runs ada
await manager_runs ben

check "installing enables and starts nothing, and prints the command that does"
install_packages old
grep -q "systemctl --user enable --now hearthd.service hearthd.socket" /tmp/apt.log || fail "the command is not printed"
for user in ada ben; do
  [ "$(states $user)" = "inactive inactive inactive inactive " ] || fail "$user's units: $(states $user)"
  [ "$(as $user systemctl --user show --property LoadState --value hearthd.service)" = loaded ] || fail "not loaded"
done
[ -z "$(find /etc/systemd/user -name '*hearth*')" ] || fail "something is enabled"
command -v gcc swift clang > /dev/null && fail "a compiler was installed"
journalctl --list-catalog | grep -q "Hearth has started" || fail "the journal does not know the catalog"

check "all pages are installed, and each program prints its version"
doc=/usr/share/doc/hearth
# Some images install no documentation.
if [ -e $doc/README.md ]; then
  for page in README.md LICENSE etc/docs/operators.md etc/hearth/config.toml etc/hearth/config.schema.json \
    etc/pictures/status.svg etc/clients/hearth.py etc/prometheus/hearth.test.yml; do
    [ -e $doc/$page ] || fail "$doc/$page is missing"
  done
fi
version=$(dpkg-query --show --showformat '${source:Upstream-Version}' hearth)
for program in hearthd hearthctl hearth-oidc-agent hearth-sandbox; do
  $program --version | grep -qxF "$program $version" || fail "$program --version: $($program --version)"
done

check "ada signs in; ben signs in and then disables Hearth"
systemd-run --quiet --unit sandbox --uid nobody hearth-sandbox --port 8790 --token-lifetime 86400
await curl -sS "$issuer/__stats"
for user in ada ben; do
  as $user systemctl --user --quiet enable --now hearthd.service hearthd.socket
  await as $user hearthctl rpc daemon.getInfo
  add_account $user
done
ben hearthctl outbox pause work > /dev/null
ben hearthctl outbox add work POST "$issuer/api/notes" --data ben --key ben > /dev/null
ben systemctl --user --quiet disable --now hearthd.service hearthd.socket
kept=$(kept_by_ben)
grep -q outbox.sqlite <<< "$kept" || fail "ben has no outbox"
before=$(session)
[ "$(jq -r '.[0]' <<< "$before")" = authenticated ] || fail "ada's session is $before"

# Adds notes one by one and retries each until it is accepted. Stops when the file /tmp/enough exists.
ada hearthctl outbox pause work > /dev/null
cat > /tmp/load.sh << 'LOAD'
n=0
while [ ! -e /tmp/enough ]; do
  n=$((n + 1))
  until hearthctl outbox add work POST "$1/api/notes" --data "note $n" --key "note-$n" > /dev/null 2>> /tmp/refused; do :; done
  echo "note $n"
done
LOAD
: > /tmp/accepted
: > /tmp/refused
chmod 666 /tmp/accepted /tmp/refused
ada bash /tmp/load.sh "$issuer" > /tmp/accepted &
load=$!
accepted() { wc -l < /tmp/accepted; }
are_accepted() { [ "$(accepted)" -ge "$1" ]; }

# change FOLDER: installs its packages under load, and expects a new daemon with the state of the old one
change() {
  local pid
  pid=$(main_pid)
  await are_accepted $(($(accepted) + 20))
  install_packages "$1"
  [ "$(main_pid)" != "$pid" ] || fail "the daemon was not restarted"
  [ "$(dpkg-query --show --showformat '${Version}' hearth)" = "$(basename /hearth/"$1"/hearth_*.deb | cut -d _ -f 2)" ] ||
    fail "the wrong version is installed"
  await are_accepted $(($(accepted) + 20))
  [ "$(session)" = "$before" ] || fail "the session was $before and is $(session)"
  [ "$(states ben)" = "inactive inactive inactive inactive " ] || fail "ben's units: $(states ben)"
  [ "$(kept_by_ben)" = "$kept" ] || fail "ben's files have changed: $(kept_by_ben)"
  if grep -q "enable --now" /tmp/apt.log; then fail "an upgrade prints the message of an installation"; fi
}

check "an upgrade under load restarts ada's daemon with its session and outbox, and does not touch ben's"
change new

check "a downgrade does the same"
change old

check "items accepted meanwhile are delivered once and in order"
: > /tmp/enough
wait $load
rm /tmp/enough
[ "$(pending)" = "$(accepted)" ] || fail "$(accepted) items were accepted, but $(pending) are pending"
ada hearthctl outbox resume work > /dev/null
ada hearthctl outbox flush work > /dev/null
curl -sS "$issuer/__stats" | jq --raw-output '.effects[] | select(.path == "/api/notes") | .body' > /tmp/delivered
cmp /tmp/accepted /tmp/delivered || fail "accepted and delivered differ"
echo "  $(accepted) items; $(wc -l < /tmp/refused) calls failed because the daemon was stopping"

check "removing stops the daemons, and keeps state and configuration"
systemctl --global enable hearthd.service hearthd.socket 2> /dev/null
ada systemctl --user start hearth-oidc-agent.socket
[ -n "$(find /etc/systemd/user -name '*hearth*')" ] || fail "nothing is enabled for all users"
apt-get remove --yes hearth hearth-sandbox > /tmp/apt.log 2>&1 || fail "apt-get"
[ "$(states ada)" = "inactive inactive inactive inactive " ] || fail "ada's units: $(states ada)"
[ "$(ada systemctl --user show --property LoadState --value hearthd.service)" = not-found ] || fail "the unit is still loaded"
for process in /proc/[0-9]*/exe; do
  case $(readlink "$process" || true) in */hearthd* | */hearth-oidc-agent*) fail "$process is still running" ;; esac
done
[ "$(kept_by_ben)" = "$kept" ] || fail "ben's files have changed"
[ -s /home/ada/.local/state/hearth/credentials/work.json ] || fail "ada's credential is gone"

check "purging removes what was enabled for all users, but no state"
apt-get purge --yes hearth hearth-sandbox > /tmp/apt.log 2>&1 || fail "apt-get"
rest=$(find /etc /usr /var/lib -iname '*hearth*' -not -path '/var/lib/systemd/linger/*' 2> /dev/null)
[ -z "$rest" ] || fail "these files are left: $rest"
[ "$(kept_by_ben)" = "$kept" ] || fail "ben's files have changed"
[ -s /home/ada/.local/state/hearth/credentials/work.json ] || fail "ada's credential is gone"

check "ada is still signed in after another installation"
install_packages new
ada systemctl --user --quiet enable --now hearthd.service hearthd.socket
await ada hearthctl status work
[ "$(session)" = "$before" ] || fail "the session was $before and is $(session)"

check "the system runs a daemon for ben without a login, with an encrypted secret, as the page for servers shows"
install -m 644 $doc/hearthd@.service /etc/systemd/system/
mkdir -p /etc/hearth /etc/systemd/system/hearthd@ben.service.d
cat > /etc/hearth/config.toml << TOML
[accounts.robot]
type = "client-credentials"
issuer = "$issuer"
client_id = "robot"
client_secret_file = "%d/work.secret"
TOML
mv /home/ben/.config/hearth/config.toml /home/ben/.config/hearth/config.toml.mine
echo secret > /root/work.secret
systemd-creds encrypt --with-key=host --name=work.secret /root/work.secret /etc/hearth/work.secret.cred 2> /dev/null
printf '[Service]\nLoadCredentialEncrypted=work.secret:/etc/hearth/work.secret.cred\n' \
  > /etc/systemd/system/hearthd@ben.service.d/secret.conf
systemctl daemon-reload
systemctl start hearthd@ben.service || fail "it does not start"
await ben env HEARTH_SOCKET=/run/hearth-ben/rpc.sock hearthctl token robot
if ada env HEARTH_SOCKET=/run/hearth-ben/rpc.sock hearthctl token robot 2> /dev/null; then fail "ada gets ben's token"; fi
systemctl reload hearthd@ben.service || fail "it cannot be reloaded"

check "a system timer writes ben's metrics into a folder that only root may write"
install -m 644 $doc/hearth-metrics@.* /etc/systemd/system/
textfiles=/var/lib/prometheus/node-exporter
mkdir -p $textfiles
systemctl daemon-reload
systemctl start hearth-metrics@ben.service || fail "the service fails"
grep -qxF 'hearth_session_authenticated{account="robot"} 1' $textfiles/hearth-ben.prom || fail "the metrics are not ben's"
[ "$(find $textfiles -type f -printf '%f %u %m ')" = "hearth-ben.prom root 644 " ] || fail "there are other files, or wrong modes"
systemctl --quiet enable --now hearth-metrics@ben.timer || fail "the timer cannot be enabled"

echo "All $checked checks of the packages passed."
