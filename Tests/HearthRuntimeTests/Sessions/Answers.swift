import HearthCore
import TestSupport

extension Result {
  var isSuccess: Bool { if case .success = self { true } else { false } }
  var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

extension Bearer {
  /// The token of a credential with a subject, as a session gives it out.
  static func sample(_ credential: Credential) -> Bearer {
    Bearer(credential, of: Sample.work, as: .accessToken, subject: nil)
  }
}
