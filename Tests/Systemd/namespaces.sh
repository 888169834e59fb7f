# Read first by a script that must be root: the script goes on in a control group, and in mount, PID, cgroup and IPC
# namespaces of its own, with those that the array more_namespaces names. Whatever it starts ends with it. It ends with 77 if
# they cannot be made.
if [ -z "${HEARTH_CHECK_STAGE:-}" ]; then
  tree=$(findmnt --noheadings --types cgroup2 --output TARGET | head -n 1)
  [ -n "$tree" ] || { echo "there is no cgroup2 file system"; exit 77; }
  group=$tree/hearth-check.$$
  mkdir "$group" 2> /dev/null || { echo "no control group can be made in $tree"; exit 77; }
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
    echo "namespaces cannot be made here"
    exit 77
  fi
  (
    echo "$BASHPID" > "$group/cgroup.procs"
    HEARTH_CHECK_STAGE=inside exec unshare "${namespaces[@]}" bash "$0" "$@"
  )
  exit
fi
unset HEARTH_CHECK_STAGE
