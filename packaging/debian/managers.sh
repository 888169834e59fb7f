# Runs "systemctl --user" for each user with a running manager. deb-systemd-invoke would also start the daemon for users
# who never enabled it.
each_manager() {
	[ -d /run/systemd/system ] || return 0
	for user in $(systemctl --quiet --no-legend --plain --state=active list-units 'user@*.service' |
		sed -n 's/^user@\([0-9]*\)\.service .*/\1/p'); do
		timeout 60 setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups \
			env -i PATH=/usr/bin:/bin XDG_RUNTIME_DIR="/run/user/$user" systemctl --user --quiet "$@" 2> /dev/null || true
	done
}
