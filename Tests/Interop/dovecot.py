"""Dovecot, a real mail server, from unpacked Debian packages and in a namespace. It asks the provider whose token it is."""

import os
import socket
import socketserver
import subprocess
import threading

import programs
from stage import await_that

# The paths of Dovecot's parts are built in, so it gets a /usr/lib with those parts and with this machine's own files.
INSIDE = """
mount --rbind /usr/lib "$1/usrlib" && mount --bind "$1/lib" /usr/lib || exit
shift
exec unshare --user --map-user=65534 --map-group=65534 "$@"
"""
DOVECOT = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = /dev/stderr
import_environment = LD_LIBRARY_PATH={libraries}
default_internal_user = nobody
default_internal_group = nogroup
default_login_user = nobody
first_valid_uid = 1
protocols = imap submission
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = xoauth2 oauthbearer
mail_location = maildir:{folder}/mail
passdb {{
  driver = oauth2
  args = {folder}/oauth2.conf
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service submission-login {{
  chroot =
  inet_listener submission {{
    port = {submission}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
submission_relay_host = 127.0.0.1
submission_relay_port = {relay}
"""
OAUTH2 = """
introspection_mode = auth
introspection_url = {provider}/userinfo
username_attribute = sub
"""


class Relay(socketserver.StreamRequestHandler):
    """The server to which Dovecot relays mail. `server.mails` has the mails."""

    def handle(self):
        mail = None
        self.wfile.write(b"220 relay ESMTP\r\n")
        for line in self.rfile:
            command = line.split()[0].upper() if line.strip() else b""
            if mail is not None and line != b".\r\n":
                mail += line
            elif mail is not None:
                self.server.mails.append(mail.decode())
                mail = None
                self.wfile.write(b"250 Taken\r\n")
            elif command == b"DATA":
                mail = b""
                self.wfile.write(b"354 Go on\r\n")
            else:
                self.wfile.write(b"250 Well\r\n")
            if command == b"QUIT":
                return


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Dovecot:
    """Dovecot from Debian packages, for users with a token from the provider."""

    def __init__(self, stage, provider):
        self.stage, self.folder, self.delivered = stage, stage.folder / "dovecot", 0
        self.environment = stage.environment | {"LD_LIBRARY_PATH": str(programs.BY_ARCHITECTURE)}
        self.relay = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay)
        self.relay.daemon_threads, self.relay.mails = True, []
        threading.Thread(target=self.relay.serve_forever, daemon=True).start()
        self.imap, self.submission = free_port(), free_port()
        (self.folder / "usrlib").mkdir(parents=True)
        (self.folder / "lib").mkdir()
        for entry in os.listdir("/usr/lib"):
            os.symlink(self.folder / "usrlib" / entry, self.folder / "lib" / entry)
        if not (self.folder / "lib" / "dovecot").is_symlink():
            os.symlink(programs.LIBRARIES / "dovecot", self.folder / "lib" / "dovecot")
        configuration = self.folder / "dovecot.conf"
        configuration.write_text(
            DOVECOT.format(
                folder=self.folder, libraries=programs.BY_ARCHITECTURE, imap=self.imap, submission=self.submission,
                relay=self.relay.server_address[1],
            )
        )
        (self.folder / "oauth2.conf").write_text(OAUTH2.format(provider=provider.url))
        # Dovecot would run doveconf itself, but under a path that is built in.
        usr = programs.UNPACKED / "usr"
        words = [usr / "bin" / "doveconf", "-c", configuration, "-f", "service=master", "-p", "-e"]
        words += [usr / "sbin" / "dovecot", "-F", "-c", configuration]
        self.command = inside(self.folder, *words)

    def works(self):
        """Whether Dovecot runs here: it exists, its version fits the configuration, and namespaces are available."""
        command = inside(self.folder, programs.UNPACKED / "usr" / "sbin" / "dovecot", "--version")
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return done.stdout.startswith("2.3.")

    def start(self):
        self.stage.start("dovecot", self.command, env=self.environment)
        await_that("Dovecot answers", lambda: answers(self.imap) and answers(self.submission))

    def deliver(self, text):
        """Puts a mail into the inbox."""
        new = self.folder / "mail" / "new"
        new.mkdir(parents=True, exist_ok=True)
        self.delivered += 1
        (new / f"{self.delivered}.1.here").write_text(f"Subject: hello\n\n{text}\n")


def inside(folder, *words):
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", INSIDE, "sh", folder, *words]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as connection:
            return connection.recv(1)
    except OSError:
        return False
