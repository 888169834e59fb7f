import Glibc
import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Makes the session and the credential store of an account from its configuration.
struct SessionBuilder: Sendable {
  let state: StatePaths
  let clock: any Clock
  let watch: any FileWatch
  let logger: Logger
  let sender: HTTPSender
  let api: HTTPAPIEndpoint
  let accounts: AccountsFile
  let revocations: RevocationService
  let skewMeasured: @Sendable (AccountName, Duration) -> Void
  let publish: @Sendable ([SessionEvent], SessionStatus) -> Void
  /// Receives each end for which the account wants the browser to be opened.
  let sessionEnded: @Sendable (AccountName) -> Void

  func store(for account: AccountConfiguration) -> FileCredentialStore {
    let credential = account.credential
    // Each account has a file system of its own, so that a place that hangs keeps no other account waiting.
    return FileCredentialStore(
      account: account.name, path: path(of: account), isConfiguredPath: credential.file != nil,
      protection: credential.protection, keyFile: credential.keyFile, accounts: accounts, files: LinuxFileSystem(),
      watch: watch, clock: clock, logger: logger, scryptCost: Self.scryptCost)
  }

  /// A debug build takes seconds for a key from a passphrase: its tests may have cheaper ones.
  private static var scryptCost: Int? {
    #if DEBUG
      getenv("HEARTH_SCRYPT_COST").flatMap { Int(String(cString: $0)) }
    #else
      nil
    #endif
  }

  func session(
    for account: AccountConfiguration, in store: FileCredentialStore, refresh: RefreshSettings
  ) -> SessionDirectory.Entry {
    let (provider, files) = (account.provider, LinuxFileSystem())
    api.route(account.name, over: provider.route, files: files)
    let (endpoint, signIn) = provider.endpoints(sender: sender, files: files, timeout: refresh.requestTimeout)
    var settings = account.session
    settings.refresh = refresh
    let service = SessionService(
      account: account.name, settings: settings, store: store, endpoint: endpoint, clock: clock, logger: logger,
      skewMeasured: { [skewMeasured, name = account.name] in skewMeasured(name, $0) },
      leave: { [revocations, keeping = account.credential.keepsRevocations] credential in
        await revocations.leave(credential, of: account.name, keeping)
      },
      publish: { [prompt = settings.reauthPrompt, publish, sessionEnded] events, status in
        publish(events, status)
        for event in events where prompt.opensBrowser(after: event) { sessionEnded(status.account) }
      })
    return SessionDirectory.Entry(
      service: service, signIn: signIn, place: path(of: account),
      probe: HTTPAccountProbe(provider, sender: sender, files: files), offer: provider.offer,
      revocations: account.credential.keepsRevocations, revokesOneGrant: provider.revokesOneGrant)
  }

  private func path(of account: AccountConfiguration) -> String {
    account.credential.file ?? state.credentialFile(of: account.name)
  }
}

extension CredentialSettings {
  /// A grant that a seal kept from the disk is not put there under a weaker one.
  fileprivate var keepsRevocations: PendingRevocation.Keeping {
    switch protection {
    case .none: .ownKey
    case .keyFile: keyFile.map { .keyFile($0) } ?? .memory
    case .passphrase, .secretService: .memory
    }
  }
}
