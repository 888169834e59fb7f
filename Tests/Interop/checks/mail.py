"""Mail and calendar programs that run a command for their password. Each must work through three rotations of the token.
They run from unpacked Debian packages or from PyPI. The mail server is Dovecot. aerc and himalaya need a terminal, so a
caller runs their command as they do."""

import base64
import json
import re
import shutil

import programs
from checks import check
from dovecot import Dovecot
from guarded import Guarded, certificate
from sandbox import Sandbox
from stage import expect, oidc

ROTATIONS = 3
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
NEOMUTT = """
set smtp_url = "smtp://ada@127.0.0.1:{port}/"
set smtp_authenticators = "{mechanism}"
set smtp_oauth_refresh_command = "hearthctl token work --for smtp://127.0.0.1:{port}"
set from = "ada@example.com"
set ssl_starttls = no
set ssl_force_tls = no
set copy = no
"""
GETMAIL = """
[retriever]
type = SimpleIMAPRetriever
server = 127.0.0.1
port = {port}
username = ada
use_xoauth2 = true
password_command = ("hearthctl", "token", "work", "--for", "imap://127.0.0.1:{port}")
[destination]
type = MDA_external
path = /bin/sh
arguments = ("-c", "cat >> {folder}/mails")
allow_root_commands = true
"""
OFFLINEIMAP = """
[general]
accounts = work
metadatadir = {folder}.metadata
ui = basic
[Account work]
localrepository = near
remoterepository = far
[Repository near]
type = Maildir
localfolders = {folder}
[Repository far]
type = IMAP
remotehost = 127.0.0.1
remoteport = {port}
remoteuser = ada
ssl = no
starttls = no
auth_mechanisms = XOAUTH2
oauth2_access_token_eval = {command}
"""
VDIRSYNCER = """
[general]
status_path = "{folder}.status"
[pair work]
a = "near"
b = "far"
collections = null
[storage near]
type = "filesystem"
path = "{folder}"
fileext = ".ics"
[storage far]
type = "http"
url = "{url}/work.ics"
username = "oauth2"
verify = "{certificate}"
password.fetch = ["command", "hearthctl", "token", "work", "--for", "{host}"]
"""
CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//notes//
BEGIN:VEVENT
UID:{uid}
DTSTAMP:20261126T120000Z
DTSTART:20261126T120000Z
SUMMARY:{text}
END:VEVENT
END:VCALENDAR
"""


class Scene:
    """The servers, and the callers: the name of each program with a function that runs it. `text` is in the mail that it sends
    or fetches."""

    def __init__(self, stage):
        self.stage, self.sandbox = stage, Sandbox(stage)
        stage.providers.append(self.sandbox)
        self.dovecot = Dovecot(stage, self.sandbox)
        self.certificate = certificate(stage.folder)
        self.calendar = Guarded(self.events, self.wanted, 'Basic realm="events"', self.certificate)
        self.text, self.versions = "", []
        self.ports = {"imap": self.dovecot.imap, "smtp": self.dovecot.submission}
        self.origins = [f"{scheme}://127.0.0.1:{port}" for scheme, port in self.ports.items()] + [self.calendar.url]
        stage.environment = programs.environment(stage) | {"HOME": str(stage.folder)}

    def wanted(self):
        token = self.stage.run("token", "work").stdout.strip()
        return "Basic " + base64.b64encode(f"oauth2:{token}".encode()).decode()

    def events(self, *_):
        uid = re.sub(r"\W", "-", self.text)
        return 200, "text/calendar", CALENDAR.format(uid=uid, text=self.text).replace("\n", "\r\n").encode()

    def found(self, name, *version):
        program = next(iter(programs.found(self.stage, name, *version)), None)
        if program:
            self.versions.append(f"{name} " + re.search(r"\d[\d.]+", program.version(*version))[0])
        return program

    def file(self, name, text, scheme="imap", **fields):
        """Writes a program's configuration. Returns its path and the folder for what the program fetches."""
        file, folder = self.stage.folder / name, self.stage.folder / f"{name}.fetched"
        for place in [folder, *(folder / part for part in ("cur", "new", "tmp"))]:
            place.mkdir(exist_ok=True)
        file.write_text(text.format(port=self.ports.get(scheme), folder=folder, **fields))
        file.chmod(0o600)
        return file, folder

    @property
    def printed(self):
        """The settings that Hearth prints for mail programs."""
        return self.stage.hearthctl("helper", "install", "mail", "work", "--for", self.origins[0])

    def senders(self):
        def sends(program, *words):
            def call():
                done = program.run(*words, stdin=f"Subject: hello\n\n{self.text}\n")
                return done, any(self.text in mail for mail in self.dovecot.relay.mails)

            return call

        msmtp, neomutt = self.found("msmtp"), self.found("neomutt", "-v")
        for mechanism in ("oauthbearer", "xoauth2"):
            if msmtp:
                file, _ = self.file(f"msmtp.{mechanism}", MSMTP, "smtp", mechanism=mechanism)
                yield f"msmtp ({mechanism})", sends(msmtp, "-C", file, "bob@example.com")
            if neomutt:
                file, _ = self.file(f"neomutt.{mechanism}", NEOMUTT, "smtp", mechanism=mechanism)
                yield f"neomutt ({mechanism})", sends(neomutt, "-n", "-F", file, "-s", "hello", "--", "bob@example.com")

    def fetchers(self):
        def fetches(program, folder, *words):
            def call():
                done = program.run(*words, stdin="y\n")
                files = [file for file in folder.rglob("*") if file.is_file()]
                return done, any(self.text in file.read_text(errors="replace") for file in files)

            return call

        shell = programs.Program("/bin/sh", self.stage.environment)
        if mbsync := self.found("mbsync"):
            file, folder = self.file("mbsync", MBSYNC)
            plugins = programs.BY_ARCHITECTURE / "sasl2"
            mbsync.environment |= {"SASL_PATH": str(plugins)} if plugins.exists() else {}
            yield "mbsync", fetches(mbsync, folder, "-c", file, "work")
        if getmail := self.found("getmail"):
            file, folder = self.file("getmail", GETMAIL)
            yield "getmail", fetches(getmail, folder, "--getmaildir", file.parent, "--rcfile", file)
        if offlineimap := self.found("offlineimap"):
            command = re.search(r"oauth2_access_token_eval = (.*)", self.printed)[1]
            file, folder = self.file("offlineimap", OFFLINEIMAP, command=command)
            yield "offlineimap", fetches(offlineimap, folder, "-c", file, "-o")
        if vdirsyncer := self.found("vdirsyncer"):
            server = {"url": self.calendar.url, "host": self.calendar.host, "certificate": self.certificate[0]}
            file, folder = self.file("vdirsyncer", VDIRSYNCER, **server)
            words = f"{vdirsyncer.path} -c {file}"
            # vdirsyncer takes a new password for a change of its configuration, which it accepts only in discover.
            yield "vdirsyncer", fetches(shell, folder, "-c", f"{words} discover && {words} sync")

    def askers(self):
        """aerc runs its command with "sh -c" and trims the output. himalaya runs a list of words."""
        commands = {
            "aerc": ["/bin/sh", "-c", re.search(r"source-cred-cmd = (.*)", self.printed)[1]],
            "himalaya": json.loads(re.search(r"oauthbearer\.token\.command = (.*)", self.printed)[1]),
        }
        for name, (path, *words) in commands.items():
            path = shutil.which(path, path=self.stage.environment["PATH"])
            program = programs.Program(path, self.stage.environment)

            def call(program=program, words=words):
                done = program.run(*words)
                return done, done.stdout.strip() == self.stage.run("token", "work").stdout.strip()

            yield f"{name} by its protocol", call

    def expect_works(self, callers, text):
        self.text = text
        self.dovecot.deliver(text)
        for name, call in callers.items():
            done, works = call()
            expect(done.returncode == 0, f"{name} ended with {done.returncode}: {done.stdout}{done.stderr}")
            expect(works, f"{name} did not transfer \"{text}\": {done.stdout}{done.stderr}")

    def expect_fails(self, callers, words):
        for name, call in callers.items():
            done, _ = call()
            expect(done.returncode != 0, f"{name} succeeded although \"{words}\": {done.stdout}{done.stderr}")
            # getmail shows only the exit status.
            shown = "hearthctl exited with" if name == "getmail" else words
            expect(shown in done.stdout + done.stderr, f"{name} does not say \"{words}\": {done.stdout}{done.stderr}")


@check("mail")
def mail(stage):
    """Each program sends or fetches. All fail while the account is locked, and for servers outside the api_origins."""
    if not programs.IS_UNPACKED:
        return "skipped: Debian's packages of Dovecot and of mail programs could not be downloaded"
    scene = Scene(stage)
    if not scene.dovecot.works():
        return "skipped: Dovecot 2.3 does not run here from its packages"
    stage.configure({"work": oidc(scene.sandbox, api_origins=scene.origins)})
    stage.start_daemon()
    stage.sign_in(scene.sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
    scene.dovecot.start()
    callers = dict([*scene.senders(), *scene.fetchers(), *scene.askers()])
    # Each refresh ends the token before it, so the programs must use the new one.
    for rotation in range(ROTATIONS + 1):
        scene.expect_works(callers, f"Mail {rotation}.")
        stage.hearthctl("refresh", "work")
    stage.hearthctl("lock", "work")
    scene.expect_fails(callers, "Locked. Run")
    stage.hearthctl("unlock", "work")
    stage.configure({"work": oidc(scene.sandbox)})
    stage.hearthctl("reload")
    scene.expect_fails(callers, "api_origins")
    return f"{ROTATIONS} rotations: {', '.join(callers)} ({', '.join(scene.versions)})"
