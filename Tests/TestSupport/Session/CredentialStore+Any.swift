package import HearthCore

/// For tests that do not involve other programs.
extension CredentialStore {
  package func prepare() async throws(AccessFailure) { _ = try await prepare(over: .any) }

  package func write(_ credential: Credential) async throws(AccessFailure) {
    _ = try await write(credential, over: .any)
  }

  @discardableResult
  package func remove(
    _ record: EndRecord, fingerprint: Fingerprint?
  ) async throws(EndNotWritten) -> RemovedCredentials {
    try await remove(record, fingerprint: fingerprint, revokes: true)
  }
}
