import FoundationEssentials
import Glibc
import HearthControl
import HearthCore
import HearthOAuth
import TestSupport
import Testing

@testable import hearthd

@Suite struct ConfiguredPathsTests {
  private func paths(_ environment: [String: String], state: String? = nil, socket: String? = nil) -> ConfiguredPaths {
    ConfiguredPaths(socket: socket, state: state, environment: environment, workingDirectory: "/cwd")
  }

  @Test("the state is where --state-dir, $HEARTH_STATE_DIR, $XDG_STATE_HOME or the home folder say, in this order")
  func state() throws {
    var environment = ["HEARTH_STATE_DIR": "/own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/me"]
    #expect(try paths(environment, state: "/option").state().folder == "/option")
    #expect(try paths(environment).state().folder == "/own")
    environment["HEARTH_STATE_DIR"] = nil
    #expect(try paths(environment).state().folder == "/xdg/hearth")
    environment["XDG_STATE_HOME"] = nil
    #expect(try paths(environment).state().folder == "/home/me/.local/state/hearth")
  }

  @Test("certificate authorities are those of $SSL_CERT_FILE and $SSL_CERT_DIR")
  func authorities() {
    let environment = ["SSL_CERT_FILE": "/etc/corporate.pem", "SSL_CERT_DIR": "/etc/certs:/more"]
    #expect(paths(environment).authorities == SystemAuthorities(environment))
    #expect(paths(environment).authorities != SystemAuthorities([:]))
  }

  @Test("systemd's $STATE_DIRECTORY says nothing")
  func stateDirectory() throws {
    #expect(
      try paths(["STATE_DIRECTORY": "/systemd", "HOME": "/home/me"]).state().folder == "/home/me/.local/state/hearth")
  }

  @Test("without a home the state has no place, and one sentence says so")
  func noHome() {
    let error = #expect(throws: ConfigurationError.self) { try paths([:]).state() }
    #expect(
      error?.description == "the path of the state folder is unknown; set $HOME, or pass a folder with --state-dir")
  }

  @Test("an empty variable, or an XDG folder that is relative, counts as unset")
  func unset() throws {
    let environment = ["HEARTH_STATE_DIR": "", "XDG_STATE_HOME": "relative", "HOME": "/home/me/"]
    #expect(try paths(environment).state().folder == "/home/me/.local/state/hearth")
  }

  @Test("a relative path of an option or of Hearth's own variables begins at the working directory")
  func relative() throws {
    #expect(try paths([:], state: "here").state().folder == "/cwd/here")
    #expect(try paths(["HEARTH_SOCKET": "s"]).socket() == "/cwd/s")
  }

  @Test("files lie in the state folder by their names")
  func files() throws {
    let state = StatePaths(folder: "/state")
    #expect(state.credentials == "/state/credentials")
    #expect(state.credentialFile(of: try #require(AccountName("work"))) == "/state/credentials/work.json")
    #expect(state.accounts == "/state/accounts.json")
    #expect(state.outbox == "/state/outbox.sqlite")
  }

  @Test("the socket is where --socket, $HEARTH_SOCKET or $XDG_RUNTIME_DIR say, in this order")
  func socket() throws {
    var environment = ["HEARTH_SOCKET": "/own.sock", "XDG_RUNTIME_DIR": "/run/user/1000"]
    #expect(try paths(environment, socket: "/option.sock").socket() == "/option.sock")
    #expect(try paths(environment).socket() == "/own.sock")
    environment["HEARTH_SOCKET"] = nil
    #expect(try paths(environment).socket() == "/run/user/1000/hearth/rpc.sock")
  }

  @Test("without any of them the socket has no place, and one sentence says so")
  func noRuntimeFolder() {
    let error = #expect(throws: SocketPath.Failure.self) { try paths(["HOME": "/home/me"]).socket() }
    #expect(
      error?.description
        == "The path of the daemon's socket is unknown, because XDG_RUNTIME_DIR is not set to an absolute "
        + "path. Use --socket or set HEARTH_SOCKET."
    )
  }

  @Test("a socket path of 107 bytes is taken and one of 108 is refused")
  func longSocket() throws {
    let path = "/" + String(repeating: "x", count: 106)
    #expect(try paths([:], socket: path).socket() == path)
    let error = #expect(throws: SocketPath.Failure.self) { try paths([:], socket: path + "x").socket() }
    #expect(
      error?.description
        == "The socket path \(path)x is longer than 107 bytes, the limit for Unix sockets. Choose a shorter path with "
        + "--socket or HEARTH_SOCKET."
    )
  }
}

@Suite struct StatePathsTests {
  private let folder = TemporaryFolder()

  @Test("the state folder is made where it is missing, 0700 all the way")
  func made() throws {
    let state = StatePaths(folder: folder.path + "/.local/state/hearth")
    try state.prepare()
    for path in [folder.path + "/.local", state.folder] {
      #expect(try folder.mode(of: path) == 0o700)
    }
    #expect(access(state.credentials, F_OK) == 0, "made at the very first start")
    try state.prepare()
  }

  @Test("a folder that others may read is narrowed to 0700")
  func narrowed() throws {
    let state = StatePaths(folder: folder.path)
    chmod(folder.path, 0o755)
    try state.prepare()
    #expect(try folder.mode(of: folder.path) == 0o700)
  }

  @Test("a mode is never widened", arguments: [0o000, 0o500, 0o600] as [mode_t])
  func neverWidened(mode: mode_t) throws {
    let state = StatePaths(folder: folder.path)
    mkdir(state.credentials, 0o700)
    chmod(state.credentials, mode | 0o050)
    try state.prepare()
    #expect(try folder.mode(of: state.credentials) == Int(mode))
    chmod(state.credentials, 0o700)
    chmod(folder.path, 0o500)
    try state.prepare()
    #expect(try folder.mode(of: folder.path) == 0o500)
    chmod(folder.path, 0o700)
  }

  @Test("a folder that others may write in is refused and left as it is")
  func writable() throws {
    chmod(folder.path, 0o1777)
    let error = #expect(throws: ConfigurationError.self) { try StatePaths(folder: folder.path).prepare() }
    #expect(error?.description == "\(folder.path): other users can write to the folder; run \"chmod go-w\" on it")
    #expect(try folder.mode(of: folder.path) == 0o1777)
  }

  @Test("a file in the folder's place is refused")
  func file() throws {
    let path = try folder.write("", to: "state")
    let error = #expect(throws: ConfigurationError.self) { try StatePaths(folder: path).prepare() }
    #expect(error?.description == "\(path): not a folder")
  }
}
