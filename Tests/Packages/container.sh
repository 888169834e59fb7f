#!/bin/bash
# container.sh ROOT FOLDER COMMAND...: boots systemd in a container and runs COMMAND there as root, with FOLDER at
# /hearth. ROOT is the root file system, which is not changed. The users ada and ben each have a lingering user manager.
# Must run as root. Returns COMMAND's status, or 77 if containers do not boot here.
set -u
more_namespaces=()
. "$(dirname "$0")/../Systemd/namespaces.sh"
below=$(readlink -f "$1")
folder=$(readlink -f "$2")
shift 2
{
  mount -t cgroup2 cgroup /sys/fs/cgroup &&
    mount -t tmpfs -o mode=755 run /run &&
    mkdir /run/{above,root} &&
    mount -t tmpfs -o mode=755 above /run/above &&
    mkdir /run/above/{upper,work} &&
    mount -t overlay -o "lowerdir=$below,upperdir=/run/above/upper,workdir=/run/above/work" root /run/root
} || exit 77
root=/run/root
units=$root/etc/systemd/system

mkdir -p "$root/var/lib/systemd/linger" "$root/var/log/journal" "$root/hearth"
for user in ada ben; do
  chroot "$root" useradd --create-home --shell /bin/bash "$user"
  : > "$root/var/lib/systemd/linger/$user"
done
rm -f "$root/etc/machine-id" "$root/var/lib/dbus/machine-id"
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"

# Starts none of the units that the distribution enables.
rm -rf "$units"/*.wants
cat > "$units/check.target" << 'UNIT'
[Unit]
Requires=basic.target dbus.socket systemd-logind.service
After=basic.target
Wants=check.service
UNIT
printf '%q ' "$@" > "$root/check.sh"
cat > "$units/check.service" << 'UNIT'
[Unit]
After=basic.target systemd-logind.service dbus.socket systemd-user-sessions.service
Wants=systemd-user-sessions.service
[Service]
Type=oneshot
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
StandardOutput=append:/check.out
StandardError=append:/check.out
ExecStart=/bin/bash /check.sh
ExecStopPost=/bin/sh -c 'exec systemctl --no-block exit "$(echo "$EXIT_STATUS" | grep "^[0-9]*$" || echo 254)"'
UNIT
mkfifo "$root/check.out"
exec 9<> "$root/check.out"
cat < "$root/check.out" 9>&- &
reader=$!
timeout --kill-after 5 600 systemd-nspawn --quiet --register=no --keep-unit --machine "hearth$$" --directory "$root" --boot \
  --console=pipe --private-network --link-journal=no --bind-ro="$folder:/hearth" systemd.unit=check.target \
  systemd.show_status=0 < /dev/null > /run/console 2>&1 9>&-
status=$?
exec 9>&-
wait $reader
[ -e "$root/check.began" ] || { tail -n 5 /run/console; exit 77; }
exit $status
