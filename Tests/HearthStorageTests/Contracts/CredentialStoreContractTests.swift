import FoundationEssentials
import Glibc
import HearthCore
import HearthLinux
import HearthStorage
import Logging
import Synchronization
import TestSupport
import Testing

@Suite("The contract of CredentialStore", .timeLimit(.minutes(1)))
struct CredentialStoreContractTests {
  static func implementations(_ protection: Protection) -> [Implementation<CredentialStoreBench>] {
    [
      Implementation("FileCredentialStore on LinuxFileSystem") { check in
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let place = RealPlace(folder)
        try await check(bench(place, place.files, place.root, protection))
      },
      Implementation("FileCredentialStore on MemoryFileSystem") { check in
        let place = MemoryPlace()
        try await check(bench(place, place.files, place.root, protection))
      },
      Implementation("MemoryCredentialStore") { check in try await check(memory(protection)) },
    ]
  }

  @Test("is kept by the real one and by its double", arguments: CredentialStoreContract.facts, implementations(.none))
  func isKept(_ fact: Fact<CredentialStoreBench>, by store: Implementation<CredentialStoreBench>) async throws {
    try await store.keeps(fact)
  }

  @Test(
    "is kept if a passphrase protects the credential",
    arguments: CredentialStoreContract.sealedFacts, implementations(.passphrase))
  func isKeptSealed(_ fact: Fact<CredentialStoreBench>, by store: Implementation<CredentialStoreBench>) async throws {
    try await store.keeps(fact)
  }

  private static func bench(
    _ place: any CredentialPlaceOnDisk, _ files: any FileSystem, _ root: String, _ protection: Protection
  ) -> CredentialStoreBench {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let (clock, sample) = (RushingClock(), Bench())
    let boots = Atomic(0)
    return CredentialStoreBench(
      store: {
        FileCredentialStore(
          account: sample.account, path: root + "/secure/work.json", isConfiguredPath: true, protection: protection,
          keyFile: nil,
          accounts: AccountsFile(
            path: root + "/state/accounts.json", files: files, clock: clock,
            bootID: "\(boots.load(ordering: .relaxed))", logger: logger),
          files: files, watch: SilentWatch(), clock: clock, logger: logger, scryptCost: 16)
      },
      credential: { sample.credential($0) }, setAway: { place.setAway($0) }, setFull: { place.setFull($0) },
      delete: { place.delete() }, spoil: { place.replace(with: "{") },
      replace: { place.replace(with: sample.text($0)) }, rest: { clock.advance(by: .seconds(60)) },
      setClock: { clock.step(by: $0) }, reboot: { boots.add(1, ordering: .relaxed) })
  }

  private static func memory(_ protection: Protection) -> CredentialStoreBench {
    let store = MemoryCredentialStore()
    store.moment { $0 = .init(now: .sample) }
    if protection == .passphrase { store.isSealed(with: nil) }
    return CredentialStoreBench(
      store: { store }, credential: { .sample($0, issuedAt: .sample) }, setAway: { store.isAway($0) },
      setFull: { store.cannotBeWritten($0 ? .full : nil) }, delete: { store.becomes(.nothing) },
      spoil: { store.becomes(.garbage) }, replace: { store.becomes(.grant(.sample($0, issuedAt: .sample))) },
      setClock: { step in store.moment { $0?.set(by: step) } }, reboot: { store.moment { $0?.boot += "'" } })
  }
}

/// What others do to a credential in `secure/work.json`, for an account that is remembered in `state/accounts.json`.
private protocol CredentialPlaceOnDisk: Sendable {
  func setAway(_ isAway: Bool)
  func setFull(_ isFull: Bool)
  func delete()
  func replace(with text: String)
}

private struct RealPlace: CredentialPlaceOnDisk {
  let root: String
  let files = LinuxFileSystem()
  private var file: String { root + "/secure/work.json" }

  init(_ folder: TemporaryFolder) {
    root = folder.path
    for name in ["secure", "state"] { mkdir(folder.file(name), 0o700) }
  }

  func setAway(_ isAway: Bool) {
    let (here, away) = (root + "/secure", root + "/away")
    if isAway { rename(here, away) } else { rename(away, here) }
  }

  /// A real disk cannot be filled here, so folders block the paths where the new contents would be written.
  func setFull(_ isFull: Bool) {
    for path in [root + "/secure/.work.json.new", root + "/state/.accounts.json.new"] {
      if isFull { mkdir(path, 0o700) } else { rmdir(path) }
    }
  }

  func delete() { unlink(file) }

  func replace(with text: String) {
    try? Data(text.utf8).write(to: URL(filePath: file + ".other"))
    chmod(file + ".other", 0o600)
    rename(file + ".other", file)
  }
}

private struct MemoryPlace: CredentialPlaceOnDisk {
  let root = "/home"
  let files = MemoryFileSystem(folders: ["/home", "/home/secure", "/home/state"], now: { .sample })

  func setAway(_ isAway: Bool) {
    if isAway { files.unmount("/home/secure") } else { files.mountAll() }
  }

  func setFull(_ isFull: Bool) {
    for path in ["/home/secure/.work.json.new", "/home/state/.accounts.json.new"] {
      files.fail(.createFile, at: path, with: isFull ? .noSpace : nil)
    }
  }

  func delete() { files.delete("/home/secure/work.json") }
  func replace(with text: String) { files.put(text, at: "/home/secure/work.json") }
}
