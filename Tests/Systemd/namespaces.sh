# Sourced first by a script that runs as root. Runs the script again in its own control group and its own mount, PID,
# cgroup and IPC namespaces, plus those in the array more_namespaces. All its processes end with it. Exits with 77 if
# the control group or the namespaces cannot be created.
if [ -z "${HEARTH_CHECK_STAGE:-}" ]; then
  tree=$(findmnt --noheadings --types cgroup2 --output TARGET | head -n 1)
  [ -n "$tree" ] || { echo "no cgroup2 file system is mounted"; exit 77; }
  group=$tree/hearth-check.$$
  mkdir "$group" 2> /dev/null || { echo "cannot create a control group in $tree"; exit 77; }
  clean_up() {
    local _
    for _ in $(seq 50); do
      find "$group" -depth -type d -exec rmdir {} + 2> /dev/null
      [ -d "$group" ] || return
      sleep 0.05
    done
  }
  trap clean_up EXIT
  namespaces=(--mount --pid --fork --cgroup --ipc "${more_namespaces[@]}" --kill-child --propagation private --mount-proc)
  if ! (echo "$BASHPID" > "$group/cgroup.procs" && exec unshare "${namespaces[@]}" true) 2> /dev/null; then
    echo "cannot create namespaces here"
    exit 77
  fi
  (
    echo "$BASHPID" > "$group/cgroup.procs"
    HEARTH_CHECK_STAGE=inside exec unshare "${namespaces[@]}" bash "$0" "$@"
  )
  exit
fi
unset HEARTH_CHECK_STAGE
