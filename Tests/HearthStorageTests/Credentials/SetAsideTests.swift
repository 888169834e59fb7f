import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("Files that are set aside")
struct SetAsideTests {
  let bench = Bench()

  private func lines(of log: LogRecorder) -> [String] {
    log.records.map { record in
      ([record.message] + record.fields.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " | ")
    }
  }

  private func kept(_ label: String, of path: String) -> [String] {
    bench.files.fileNames.filter { $0.hasPrefix("\(path).\(label)-") }.sorted().map { bench.files.text(at: $0) ?? "" }
  }

  @Test("Of many corrupt files only the newest is kept, readable only by its owner, and the same for a newer version's")
  func newest() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    for number in 1...4 {
      bench.files.put("{\(number)", at: bench.defaultPath, mode: 0o644)
      let name = try await store.setAside()
      #expect(bench.files.text(at: name) == "{\(number)" && bench.files.mode(at: name) == 0o600)
      bench.files.put(#"{"version":\#(number + 1)}"#, at: bench.defaultPath)
      try await store.write(bench.credential(1))
      bench.clock.advance(by: .seconds(1))
    }
    #expect(kept("corrupt", of: bench.defaultPath) == ["{4"])
    #expect(kept("newer", of: bench.defaultPath) == [#"{"version":5}"#])
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("An empty file does not replace another one: the newest with content is kept as well")
  func empty() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    for text in ["{1", "{2", "", ""] {
      bench.files.put(text, at: bench.defaultPath)
      _ = try await store.setAside()
      bench.clock.advance(by: .seconds(1))
    }
    #expect(kept("corrupt", of: bench.defaultPath) == ["{2", ""])
  }

  @Test("A file with another name is not taken for one")
  func others() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put("mine", at: bench.defaultPath + ".corrupt-but-mine")
    for _ in 1...2 {
      bench.files.put("{", at: bench.defaultPath)
      _ = try await store.setAside()
    }
    try await store.remove(bench.end(.signedOut), fingerprint: nil)
    #expect(kept("corrupt", of: bench.defaultPath) == ["mine"])
  }

  @Test("If the power fails meanwhile, a file that was reported is there", arguments: MemoryFileSystem.Loss.allCases)
  func powerLoss(loss: MemoryFileSystem.Loss) async throws {
    var steps = 0
    var isDone = false
    while !isDone {
      let bench = Bench()
      try await bench.store().write(bench.credential(1))
      bench.files.put("{1", at: bench.defaultPath)
      _ = try await bench.store().setAside()
      bench.files.put("{2", at: bench.defaultPath)
      bench.clock.advance(by: .seconds(1))
      let before = bench.files.changesMade
      bench.files.stop(afterChanges: steps)
      let second = try? await bench.store().setAside()
      bench.files.restart(after: loss)
      isDone = second != nil && bench.files.changesMade - before < steps
      let names = bench.files.fileNames.filter { $0.hasPrefix(bench.defaultPath) }
      let texts = names.compactMap { bench.files.text(at: $0) }
      #expect(texts.contains("{1") || second.map { bench.files.text(at: $0) } == "{2", "after \(steps) steps")
      steps += 1
    }
    #expect(steps > 3)
  }

  @Test("A write logs what it sets aside with the reason, and with nothing of its contents")
  func logged() async throws {
    let log = LogRecorder()
    let logger = log.logger
    let store = FileCredentialStore(
      account: bench.account, path: bench.defaultPath, isConfiguredPath: false, protection: .none, keyFile: nil,
      accounts: AccountsFile(path: bench.accountsPath, files: bench.files, clock: bench.clock, logger: logger),
      files: bench.files, watch: bench.watch, clock: bench.clock, logger: logger)
    try await store.write(bench.credential(1))
    bench.files.put(bench.text(3).replacing("Bearer", with: "no bearer"), at: bench.defaultPath)
    try await store.write(bench.credential(2))
    bench.files.put(#"{"version":7,"grant":"access-7"}"#, at: bench.defaultPath)
    try await store.write(bench.credential(2))
    let records = lines(of: log)
    #expect(records.count == 2)
    let why = "its field \"grant.tokenType\" contains invalid characters"
    #expect(records[0].contains("cannot be understood (\(why)) and was moved to"))
    #expect(records[0].contains("HEARTH_EVENT=credential.setAside"))
    #expect(records[1].contains("was written by a newer version of Hearth (it has format 7) and was moved to"))
    #expect(!records.joined().contains("access-") && !records.joined().contains("no bearer"))
  }

  @Test(
    "accounts.json that cannot be understood says why, and only the newest is kept",
    arguments: [
      ("garbage", "it is not JSON"), (#"{"version":1}"#, #"its field "accounts" is missing"#),
      (
        #"{"version":1,"accounts":{"work":{"lockedByUser":"yes"}}}"#,
        #"its field "accounts.work.lockedByUser" has the wrong type"#
      ),
      (#"{"version":1,"accounts":{"a secret":{"path":1}}}"#, #"its field "accounts.….path" has the wrong type"#),
      (#"{"version":0,"accounts":{}}"#, "its version is unknown"),
    ])
  func accounts(text: String, why: String) async throws {
    let log = LogRecorder()
    bench.files.addFolder(Bench.state)
    for text in ["[older", text] {
      bench.files.put(text, at: bench.accountsPath)
      let accounts = AccountsFile(
        path: bench.accountsPath, files: bench.files, clock: bench.clock, logger: log.logger)
      #expect(try await accounts.known(bench.account) == KnownAccount())
      bench.clock.advance(by: .seconds(1))
    }
    #expect(kept("corrupt", of: bench.accountsPath) == [text])
    let record = lines(of: log).last ?? ""
    #expect(record.hasPrefix("accounts.json is unreadable (\(why)) and was moved to "))
    #expect(record.hasSuffix("| HEARTH_ERROR=\(why)") && !record.contains("secret"))
  }
}
