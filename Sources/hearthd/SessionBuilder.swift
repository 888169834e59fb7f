import Glibc
import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Creates an account's session and credential store from its configuration.
struct SessionBuilder: Sendable {
  let state: StatePaths
  let clock: any Clock
  let watch: any FileWatch
  let logger: Logger
  let sender: HTTPSender
  let api: HTTPAPIEndpoint
  let accounts: AccountsFile
  let sessions: SessionDirectory
  let revocations: RevocationService
  let skewMeasured: @Sendable (AccountName, Duration) -> Void
  let publish: @Sendable ([SessionEvent], SessionStatus) -> Void

  func store(for account: AccountConfiguration) -> FileCredentialStore {
    let credential = account.credential
    // Each account has its own file system access, so that a hanging file system does not block other accounts.
    return FileCredentialStore(
      account: account.name, path: credential.file ?? state.credentialFile(of: account.name),
      isConfiguredPath: credential.file != nil,
      protection: credential.protection, keyFile: credential.keyFile, accounts: accounts, files: LinuxFileSystem(),
      watch: watch, clock: clock, logger: logger, scryptCost: Self.scryptCost)
  }

  /// The cost parameter for scrypt, or `nil` for the default. Tests lower it, because debug builds derive keys slowly.
  private static var scryptCost: Int? {
    #if DEBUG
      getenv("HEARTH_SCRYPT_COST").flatMap { Int(String(cString: $0)) }
    #else
      nil
    #endif
  }

  func session(for account: AccountConfiguration) -> SessionDirectory.Entry {
    let provider = account.provider
    let (endpoint, signIn, probe) = endpoints(of: account)
    let service = SessionService(
      account: account.name, settings: account.session, store: store(for: account), endpoint: endpoint,
      clock: clock, logger: logger,
      skewMeasured: { [skewMeasured, name = account.name] in skewMeasured(name, $0) },
      leave: { [sessions, revocations, keeping = account.credential.keepsRevocations] credential in
        let keeping = await sessions[account.name]?.revocations ?? keeping
        await revocations.leave(credential, of: account.name, keeping)
      },
      publish: publish)
    return SessionDirectory.Entry(
      service: service, signIn: signIn, probe: probe, offer: provider.offer,
      revocations: account.credential.keepsRevocations, revokesOneGrant: provider.revokesOneGrant)
  }

  /// Creates the endpoints and the probe for the account's provider. Also registers the provider's proxy and
  /// certificates for requests to the account's APIs.
  func endpoints(
    of account: AccountConfiguration
  ) -> (tokens: any TokenEndpoint, signIn: any SignInEndpoint, probe: any AccountProbe) {
    let (provider, files) = (account.provider, LinuxFileSystem())
    api.route(account.name, over: provider.route, files: files)
    let (tokens, signIn) = provider.endpoints(
      sender: sender, files: files, timeout: account.session.refresh.requestTimeout)
    return (tokens, signIn, HTTPAccountProbe(provider, sender: sender, files: files))
  }
}

extension CredentialSettings {
  /// Where and how to keep grants that must still be revoked. They are protected at least as well as the credential.
  var keepsRevocations: PendingRevocation.Keeping {
    switch protection {
    case .none: .ownKey
    case .keyFile: keyFile.map { .keyFile($0) } ?? .memory
    case .passphrase, .secretService: .memory
    }
  }
}
