#!/bin/bash
# run.sh FOLDER: runs the daemon and the sandbox from FOLDER until Ctrl-C, and shows the daemon's log.
set -eu
programs=$(cd "$1" && pwd)
lifetime=60
. "$(dirname "$0")/stage.sh"

start_sandbox
write_configuration
start_daemon
cat << TEXT
The daemon listens on $HEARTH_SOCKET, the sandbox on $issuer
(see $programs/hearth-sandbox --help). In another terminal, run:

  export HEARTH_SOCKET=$HEARTH_SOCKET PATH=$programs:\$PATH
  hearthctl login demo          # any user name, and the password "password"
  hearthctl status

Ctrl-C stops both and removes $stage.

TEXT
tail -n +1 -f --pid="$daemon" "$stage/daemon.log"
