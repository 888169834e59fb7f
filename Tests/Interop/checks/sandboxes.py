"""Hearth from inside a bubblewrap sandbox: the socket, a token file, hearthctl."""

import os
import platform
import struct
import subprocess

import programs
from checks import check
from sandbox import Sandbox
from stage import await_that, expect, oidc

# From <linux/bpf_common.h> and <linux/seccomp.h>.
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ROTATIONS = 3
REFUSE, ALLOW = 0x00050000 | 97, 0x7FFF0000  # EAFNOSUPPORT, like systemd's RestrictAddressFamilies
SOCKET = {"x86_64": 41, "aarch64": 198}


def without_unix_sockets():
    """A seccomp filter that refuses socket(AF_UNIX, …)."""
    lines = [
        (LOAD, 0, 0, 0), (IF_EQUAL, 0, 3, SOCKET[platform.machine()]), (LOAD, 0, 0, 16), (IF_EQUAL, 0, 1, 1),
        (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW),
    ]
    descriptor = os.memfd_create("filter")
    os.write(descriptor, b"".join(struct.pack("HBBI", *line) for line in lines))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class Inside:
    """A shell in a sandbox. Of the stage's folder it sees only what the options mount."""

    def __init__(self, stage, bubblewrap, *options, descriptors=()):
        all_else = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", stage.folder]
        self.process = subprocess.Popen(
            [bubblewrap.path, *map(str, [*all_else, *options]), "/bin/sh"], env=bubblewrap.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=descriptors)
        stage.processes.append(self.process)

    def run(self, words):
        """Runs a command and returns its output."""
        print(f"({words}) < /dev/null 2>&1; echo; echo ended", file=self.process.stdin, flush=True)
        said = ""
        for line in self.process.stdout:
            if line == "ended\n":
                return said.strip()
            said += line
        expect(False, f"the sandbox has ended: {said}")


def expect_reaches(scene, inside, name, status, file):
    """Checks hearthctl's exit status and whether the file has the token, before and after a rotation."""
    stage, seen = scene.stage, set()
    for _ in range(2):
        token = stage.hearthctl("token", "work")
        seen.add(token)
        said = inside.run("hearthctl token work; echo :$?")
        expect(said.endswith(f":{status}"), f"{name}: hearthctl does not exit with {status}: {said}")
        expect((said == f"{token}\n:0") == (status == 0), f"{name}: hearthctl prints {said}")
        said = inside.run(f"cat {scene.file}")
        expect((said == token) == file, f"{name}: the file contains {said}")
        stage.hearthctl("refresh", "work")
    expect(len(seen) == 2, "the token was not replaced")


class Scene:
    def __init__(self, stage):
        self.stage = stage
        self.folder = stage.folder / "run"
        self.folder.mkdir(mode=0o700)
        stage.socket = str(self.folder / "rpc.sock")
        stage.environment["HEARTH_SOCKET"] = stage.socket
        self.file = self.folder / "work.token"
        self.sandbox = Sandbox(stage)
        stage.providers.append(self.sandbox)
        stage.configure({"work": oidc(self.sandbox)})
        stage.start_daemon()
        stage.sign_in(self.sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
        stage.hearthctl("sink", "add", "work", str(self.file))
        await_that("the token file is there", self.file.exists)
        self.mount = ["--ro-bind", self.folder, self.folder]


@check("sandboxes")
def sandboxes(stage):
    """Checks the rows of "Containers and sandboxes" in etc/docs/helpers.md."""
    scene = Scene(stage)
    bubblewrap = next(iter(programs.found(stage, "bwrap")), None)
    if not bubblewrap or bubblewrap.run("--ro-bind", "/", "/", "true").returncode:
        return "skipped: bubblewrap does not start here"

    def inside(*options, descriptors=()):
        return Inside(stage, bubblewrap, *options, descriptors=descriptors)

    expect_reaches(scene, inside(), "nothing mounted", 6, False)
    expect_reaches(scene, inside(*scene.mount), "the folder mounted", 0, True)

    # As in a rootless podman container, where the user appears as root.
    container = inside(*scene.mount, "--unshare-all", "--uid", "0", "--gid", "0")
    expect_reaches(scene, container, "namespaces of its own", 0, True)
    asked = f"{scene.sandbox.url}/api/whoami"
    expect("ada" in container.run(f"hearthctl request work GET {asked}"), "Hearth sends no request for a sandbox")
    reached = container.run(f"curl -sS -m 5 {asked}")
    expect("ada" not in reached and "onnect" in reached, f"the sandbox reaches the host's loopback: {reached}")

    descriptor = without_unix_sockets()
    options = [*scene.mount, "--seccomp", descriptor]
    expect_reaches(scene, inside(*options, descriptors=[descriptor]), "no AF_UNIX", 6, True)

    # The mount of a single file keeps showing the file from the time of the mount.
    one = stage.folder / "token"
    old = stage.hearthctl("token", "work")
    single = inside("--ro-bind", scene.file, one, "--ro-bind", stage.socket, stage.socket)
    expect(single.run(f"cat {one}") == old == single.run("hearthctl token work"), "it starts with another token")
    stage.hearthctl("refresh", "work")
    token = stage.hearthctl("token", "work")
    expect(single.run(f"cat {one}") == old != token, "the mount follows the replaced file")
    expect(single.run("hearthctl token work") == token, "the socket is gone")
    stage.end_daemon()
    stage.start_daemon()
    expect("hearthd" in single.run("hearthctl token work"), "the mount follows the replaced socket")
    await_that("the token file is there again", scene.file.exists)
    expect_reaches(scene, container, "after a restart", 0, True)

    # A mount of a single file that is written in place shows each new token, through rotations, a lock and a restart.
    kept = scene.folder / "kept.token"
    kept.touch(mode=0o600)
    follows = inside("--ro-bind", kept, one)
    stage.hearthctl("sink", "add", "work", str(kept), "--in-place")
    for _ in range(ROTATIONS + 1):
        token = stage.hearthctl("token", "work")
        expect(follows.run(f"flock -s {one} cat {one}") == token, "the mounted file has another token")
        stage.hearthctl("refresh", "work")
    stage.hearthctl("lock", "work")
    expect(follows.run(f"wc -c < {one}") == "0", "the token is still in the mounted file")
    stage.hearthctl("unlock", "work")
    await_that("the mount has the new token", lambda: follows.run(f"cat {one}") == stage.hearthctl("token", "work"))
    stage.end_daemon()
    expect(follows.run(f"wc -c < {one}") == "0", "the token is still there after the daemon has stopped")
    stage.start_daemon()
    await_that("the mount has the new token", lambda: follows.run(f"cat {one}") == stage.hearthctl("token", "work"))

    # A program started by exec has the token in its environment.
    words = [bubblewrap.path, "--ro-bind", "/", "/", "--tmpfs", stage.folder, "--unshare-all", "printenv", "TOKEN"]
    said = stage.hearthctl("exec", "work", "--env", "TOKEN", "--", *map(str, words))
    expect(said == stage.hearthctl("token", "work"), f"the variable does not reach a sandbox: {said}")
    return bubblewrap.version()
