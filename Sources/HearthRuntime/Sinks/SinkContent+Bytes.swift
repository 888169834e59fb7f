import HearthControl
import HearthCore

extension SinkContent {
  /// What is written into the file.
  func bytes(for sink: SinkSettings) -> [UInt8] {
    let text =
      switch sink.format {
      case .token: bearer.token.secret.reveal()
      case .header: "Authorization: \(bearer.type) \(bearer.token.secret.reveal())\n"
      case .json: "\(GivenToken(sink.account, bearer, issuer: issuer).json)\n"
      }
    return Array(text.utf8)
  }
}
