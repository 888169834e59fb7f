"""Real mail programs that get tokens from Hearth, and a real server: Dovecot, which asks the provider who owns the
token. None is installed: they run from unpacked Debian packages, and Dovecot in a namespace."""

import os
import socket
import socketserver
import subprocess
import threading
from functools import partial

import programs
from checks import check
from sandbox import Sandbox
from stage import await_that, expect, oidc

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
        self.stage, self.folder = stage, stage.folder / "dovecot"
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
        (new / "1.1.here").write_text(text)


def inside(folder, *words):
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", INSIDE, "sh", folder, *words]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as connection:
            return connection.recv(1)
    except OSError:
        return False


MSMTP = """
account default
host 127.0.0.1
port {port}
tls off
auth {mechanism}
user ada
from ada@example.com
passwordeval hearthctl token work --for smtp://127.0.0.1:{port}
"""
MBSYNC = """
IMAPAccount work
Host 127.0.0.1
Port {port}
SSLType None
User ada
AuthMechs XOAUTH2
PassCmd "hearthctl token work --for imap://127.0.0.1:{port}"

IMAPStore far
Account work

MaildirStore near
Path {folder}/
Inbox {folder}/INBOX

Channel work
Far :far:
Near :near:
Create Near
SyncState *
"""


@check("mail")
def mail(stage):
    """msmtp sends and mbsync fetches a mail with a token. Both fail while the account is locked, and for a server
    outside the api_origins."""
    if not programs.IS_UNPACKED:
        return "skipped: Debian's packages of Dovecot, msmtp and mbsync could not be downloaded"
    sandbox = Sandbox(stage)
    stage.providers.append(sandbox)
    dovecot = Dovecot(stage, sandbox)
    if not dovecot.works():
        return "skipped: Dovecot 2.3 does not run here from its packages"
    servers = [f"imap://127.0.0.1:{dovecot.imap}", f"smtp://127.0.0.1:{dovecot.submission}"]
    stage.configure({"work": oidc(sandbox, api_origins=servers)})
    stage.start_daemon()
    stage.sign_in(sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
    dovecot.deliver("Subject: hello\n\nFetched.\n")
    dovecot.start()
    calls, seen = {}, []

    for msmtp in programs.found(stage, "msmtp")[:1]:
        for mechanism in ("oauthbearer", "xoauth2"):
            file = stage.folder / f"msmtprc.{mechanism}"
            file.write_text(MSMTP.format(port=dovecot.submission, mechanism=mechanism))
            file.chmod(0o600)
            text = f"Subject: hello\n\nSent by {mechanism}.\n"
            calls[f"msmtp ({mechanism})"] = partial(msmtp.run, "-C", file, "bob@example.com", stdin=text)
            succeeds(f"msmtp ({mechanism})", calls)
            expect(mechanism in dovecot.relay.mails[-1], "the last mail is not from msmtp")
        seen.append(msmtp.version())

    for mbsync in programs.found(stage, "mbsync")[:1]:
        file, near = stage.folder / "mbsyncrc", stage.folder / "near"
        near.mkdir()
        file.write_text(MBSYNC.format(port=dovecot.imap, folder=near))
        plugins = programs.BY_ARCHITECTURE / "sasl2"
        mbsync.environment |= {"SASL_PATH": str(plugins)} if plugins.exists() else {}
        calls["mbsync"] = partial(mbsync.run, "-c", file, "work")
        succeeds("mbsync", calls)
        fetched = [mail for mail in (near / "INBOX").rglob("*") if mail.is_file() and "Fetched." in mail.read_text()]
        expect(fetched, "mbsync fetched no mail")
        seen.append(mbsync.version())

    # The old token no longer works, so the programs must get the new one.
    stage.hearthctl("refresh", "work")
    for name in calls:
        succeeds(name, calls)
    if not calls:
        return "skipped: msmtp and mbsync are not installed"
    fails_saying("Locked. Run", calls, stage, "lock", "work")
    stage.hearthctl("unlock", "work")
    stage.configure({"work": oidc(sandbox)})
    fails_saying("api_origins", calls, stage, "rpc", "daemon.reload")
    return ", ".join(seen)


def succeeds(name, calls):
    done = calls[name]()
    expect(done.returncode == 0, f"{name} ended with {done.returncode}: {done.stdout}{done.stderr}")


def fails_saying(words, calls, stage, *change):
    """Makes a change, after which all calls must fail with these words."""
    stage.hearthctl(*change)
    for name, call in calls.items():
        done = call()
        expect(done.returncode != 0, f"{name} succeeded after {change}: {done.stdout}{done.stderr}")
        expect(words in done.stderr, f"{name} does not say \"{words}\": {done.stdout}{done.stderr}")
