#!/bin/bash
# user-manager.sh [--bind SOURCE TARGET]... [--catalog FILE] COMMAND...
# Runs COMMAND as an unprivileged user with its own systemd user manager and journal, whatever PID 1 is on this machine.
# It uses new mount, PID, cgroup, IPC and network namespaces, so that nothing outside changes. Must run as root. SOURCE
# appears at TARGET, below /run. Returns COMMAND's status, or 77 if the manager cannot run here.
set -u
uid=4242
user=hearth-check

more_namespaces=(--net)
. "$(dirname "$0")/namespaces.sh"
set -e
ip link set lo up
mount -t cgroup2 -o nsdelegate cgroup /sys/fs/cgroup
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=755 journal /var/log/journal 2>/dev/null || {
  mount -t tmpfs -o mode=755 log /var/log
  mkdir /var/log/journal
}

catalogs=()
while true; do
  case "${1:-}" in
  --bind)
    mkdir -p "$3"
    mount --bind "$2" "$3"
    shift 3
    ;;
  --catalog)
    catalogs+=("$2")
    shift 2
    ;;
  *) break ;;
  esac
done

mkdir -p /var/lib/systemd/catalog /run/catalog
mount -t tmpfs catalog /var/lib/systemd/catalog
cp /usr/lib/systemd/catalog/*.catalog "${catalogs[@]}" /run/catalog/
mount --bind /run/catalog /usr/lib/systemd/catalog
journalctl --update-catalog

home=/run/home
runtime=/run/user/$uid
mkdir -p "$home" "$runtime" /run/systemd/{system,users,journal,journald.conf.d,propagate,inaccessible,unit-root}
chmod 000 /run/systemd/unit-root
chown $uid:$uid "$home" "$runtime"
chmod 700 "$home" "$runtime"
cp /etc/passwd /etc/group /run/
echo "$user:x:$uid:$uid::$home:/bin/bash" >> /run/passwd
echo "$user:x:$uid:" >> /run/group
mount --bind /run/passwd /etc/passwd
mount --bind /run/group /etc/group
[ -s /etc/machine-id ] || {
  tr -d - < /proc/sys/kernel/random/uuid > /run/machine-id
  touch /etc/machine-id
  mount --bind /run/machine-id /etc/machine-id
}
mkdir -p "/var/log/journal/$(cat /etc/machine-id)"

cat > /run/systemd/journald.conf.d/check.conf <<'CONF'
[Journal]
Storage=persistent
SplitMode=uid
ReadKMsg=no
Audit=no
CONF
: > /run/systemd/journal/flushed

# The user manager's control groups, set up as logind and the system manager would.
root=/sys/fs/cgroup
mine=$root/user.slice/user-$uid.slice/user@$uid.service
mkdir -p "$root/init.scope" "$root/session.scope" "$mine/init.scope"
chown $uid:$uid "$mine" "$mine"/cgroup.{procs,subtree_control,threads} "$mine/init.scope" "$mine/init.scope/cgroup.procs"
while read -r process; do
  echo "$process" > "$root/init.scope/cgroup.procs" 2>/dev/null || true
done < "$root/cgroup.procs"

wait_for_socket() {
  local _
  for _ in $(seq 3000); do
    [ -S "$1" ] && return
    sleep 0.01
  done
  echo "$2 did not start"
  exit 77
}

SYSTEMD_LOG_TARGET=null /lib/systemd/systemd-journald 2> /run/journald.log &
journal=$!
wait_for_socket /run/systemd/journal/socket "the journal"

as_user=(setpriv --reuid $uid --regid $uid --init-groups env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=$home
  USER=$user LOGNAME=$user SHELL=/bin/bash LANG=C.UTF-8 XDG_RUNTIME_DIR=$runtime
  DBUS_SESSION_BUS_ADDRESS="unix:path=$runtime/bus")
(
  echo "$BASHPID" > "$mine/init.scope/cgroup.procs"
  exec "${as_user[@]}" /lib/systemd/systemd --user --log-target=journal
) &
manager=$!
wait_for_socket "$runtime/systemd/private" "the user manager"

set +e
(
  echo "$BASHPID" > "$root/session.scope/cgroup.procs"
  cd "$home" && exec "${as_user[@]}" "$@"
)
status=$?
kill -TERM $manager
wait $manager
kill $journal
wait $journal
exit $status
