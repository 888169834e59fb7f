import FoundationEssentials
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

/// The programs are scripts in a folder of the test, which stands for `$PATH`.
@Suite(.timeLimit(.minutes(1))) struct DesktopBrowserTests {
  private let folder = TemporaryFolder()

  private func script(_ name: String, _ text: String) throws {
    try Files.write("#!/bin/sh\n" + text + "\n", to: folder.file(name))
    chmod(folder.file(name), 0o700)
  }

  private func browser(_ environment: [String: String], isUnit: Bool = false) -> DesktopBrowser {
    var variables = environment.merging(["PATH": "\(folder.path):/usr/bin:/bin"]) { own, _ in own }
    if isUnit { variables["SYSTEMD_EXEC_PID"] = "4711" }
    return DesktopBrowser(environment: variables, process: 4711)
  }

  @Test(
    "a display is one that the environment names",
    arguments: [
      (["DISPLAY": ":0"], true), (["WAYLAND_DISPLAY": "wayland-0"], true), (["BROWSER": "b"], true), ([:], false),
      (["BROWSER": ":"], false), (["DISPLAY": ""], false),
    ])
  func display(_ environment: [String: String], _ hasDisplay: Bool) async {
    #expect(await browser(environment).hasDisplay() == hasDisplay)
  }

  @Test(
    "a unit asks the user manager for the display of a session that began later",
    arguments: [("HOME=/\nWAYLAND_DISPLAY=wayland-0", true), ("DISPLAY=\nXDISPLAY=:0", false)])
  func managerDisplay(_ shown: String, _ hasDisplay: Bool) async throws {
    try script("systemctl", "[ \"$*\" = \"--user show-environment\" ] && printf '\(shown)\\n'")
    #expect(await browser([:], isUnit: true).hasDisplay() == hasDisplay)
    #expect(await !browser([:]).hasDisplay(), "what is no unit has no manager to ask")
  }

  @Test("a page is opened by the named program, or by xdg-open, without what is the daemon's alone")
  func open() async throws {
    let seen = folder.file("seen")
    try script("xdg-open", "echo \"$1 $DISPLAY $NOTIFY_SOCKET.\" > '\(seen).new'; mv '\(seen).new' '\(seen)'")
    #expect(await browser(["DISPLAY": ":7", "NOTIFY_SOCKET": "/n"]).open("https://id.example.com/?a=b&c=$d") == nil)
    try eventually("it is run") { Files.exists(seen) }
    #expect(Files.text(seen) == "https://id.example.com/?a=b&c=$d :7 .\n")
  }

  @Test(
    "the commands of BROWSER are words with blanks between, with the address in place of %s or at the end",
    arguments: [
      ("one:two", [["one", "https://x?a=%25s:b&$(c)'d;e"], ["two", "https://x?a=%25s:b&$(c)'d;e"]]),
      ("prog %s", [["prog", "https://x?a=%25s:b&$(c)'d;e"]]),
      ("prog  -n --url=%s end:", [["prog", "-n", "--url=https://x?a=%25s:b&$(c)'d;e", "end"]]),
      ("prog -n", [["prog", "-n", "https://x?a=%25s:b&$(c)'d;e"]]),
      (" : ", [["xdg-open", "https://x?a=%25s:b&$(c)'d;e"]]),
    ])
  func words(_ variable: String, _ lines: [[String]]) {
    #expect(browser(["BROWSER": variable]).commands(for: "https://x?a=%25s:b&$(c)'d;e") == lines)
  }

  @Test("the first command that can be run opens the page, outside a unit and in one", arguments: [false, true])
  func alternatives(_ isUnit: Bool) async throws {
    let seen = folder.file("seen")
    try script("prog", "echo \"$@\" > '\(seen).new'; mv '\(seen).new' '\(seen)'")
    try script("systemd-run", "while [ \"$1\" != -- ]; do shift; done; shift; \"$@\"")
    #expect(await browser(["BROWSER": "/nowhere %s:prog --page=%s -x"], isUnit: isUnit).open("https://x") == nil)
    try eventually("it is run") { Files.exists(seen) }
    #expect(Files.text(seen) == "--page=https://x -x\n")
  }

  @Test("a program that is not there is told")
  func refused() async {
    #expect(await browser(["BROWSER": "/nowhere"]).open("https://x") != nil)
  }

  @Test(
    "only a page is handed to a program: https, or http on this machine, one word, no option",
    arguments: [
      "--help", "-https://x", "", "file:///etc/passwd", "javascript:alert(1)", "http://x.example/", "ssh://x/", "x",
      "mailto:me@x", "https:x", " https://x", "https://x/a b", "https://x/\n-e", "https://x/`id`", "https://x/\"&id&\"",
      "https://x\\y", "https://me@x/", "https://-x --help/", "https://x/%s", "https://x/é",
    ])
  func noPages(_ url: String) async throws {
    let seen = folder.file("seen")
    try script("prog", "touch '\(seen)'")
    for isUnit in [false, true] {
      #expect(await browser(["BROWSER": "prog"], isUnit: isUnit).open(url) != nil)
      #expect(browser([:], isUnit: isUnit).commands(for: url).isEmpty)
    }
    #expect(!Files.exists(seen))
  }

  @Test(
    "a page is one word, whatever it has for a shell", arguments: ["https://x/$(id);id&#'a", "http://127.0.0.1:8/#-e"])
  func pages(_ url: String) {
    #expect(browser(["BROWSER": "prog"]).commands(for: url) == [["prog", url]])
  }

  @Test("a unit has the page opened outside of itself, and the journal is not told the address")
  func unit() async throws {
    let seen = folder.file("seen")
    try script("systemd-run", "printf '%s\\n' \"$@\" > '\(seen)'")
    #expect(await browser(["DISPLAY": ":7"], isUnit: true).open("https://x/$HOME") == nil)
    let words = Files.text(seen).split(separator: "\n")
    #expect(words.prefix(3) == ["--user", "--quiet", "--collect"])
    #expect(words.contains("--setenv=DISPLAY=:7"))
    #expect(words.suffix(3) == ["--", "xdg-open", "https://x/$$HOME"])
    #expect(words.first { $0.hasPrefix("--description=") }?.contains("x/") == false)
    try script("systemd-run", "exit 1")
    #expect(await browser([:], isUnit: true).open("https://x") != nil)
  }
}
