import HearthControl

/// What one client of oidc-agent writes, as far as it has come: one request for each connection, as a JSON object; or the
/// client's public key, and after the answer with ours the sealed request (oidc-agent 4). Nothing marks the end of a message
/// but its own form.
struct AgentExchange {
  enum Step: Hashable {
    case more
    /// To be sent to the client, which goes on then.
    case send(String)
    case request(OIDCAgentRequest)
    /// The client made a mistake, and is served no further.
    case failure(OIDCAgentAnswer)
  }

  /// In bytes: of one message, sealed or not.
  static let limit = 64 << 10

  private var input: [UInt8] = []
  private var objectEnd = ObjectEnd()
  private var cipher: AgentCipher?

  /// Nothing has come of a message yet.
  var isAtStart: Bool { input.isEmpty }

  mutating func receive(_ bytes: some Collection<UInt8>) -> Step {
    guard input.count + bytes.count <= Self.limit else {
      return .failure(.malformed("A request may have \(Self.limit >> 10) KiB."))
    }
    let bytes = input.isEmpty ? Array(bytes.drop(while: Self.isSpace)) : Array(bytes)
    input += bytes
    guard let first = input.first else { return .more }
    if let cipher { return openedStep(cipher.open(trimmed)) }
    if first == UInt8(ascii: "{") { return objectEnd.isReached(in: bytes) ? request(input) : .more }
    return keyStep()
  }

  /// The bytes of an answer, sealed where the request was.
  func written(_ answer: OIDCAgentAnswer) -> [UInt8] {
    let bytes = answer.json.bytes
    return cipher.map { Array($0.seal(bytes).utf8) } ?? bytes
  }

  private mutating func keyStep() -> Step {
    let key = trimmed
    guard key.allSatisfy(Self.isBase64), key.count <= AgentCipher.encodedKeyLength else {
      return .failure(.malformed("This is neither a JSON object nor a public key."))
    }
    guard key.count == AgentCipher.encodedKeyLength else { return .more }
    guard let cipher = AgentCipher(peer: String(decoding: key, as: UTF8.self)) else {
      return .failure(.failure("received suspicious public key"))
    }
    self.cipher = cipher
    input = []
    return .send(cipher.publicKey)
  }

  private mutating func openedStep(_ opening: AgentCipher.Opening) -> Step {
    switch opening {
    case .incomplete: return .more
    case .message(let message): return request(message)
    case .failed:
      // What follows cannot be sealed for somebody who does not have the key.
      cipher = nil
      return .failure(.failure("decryption failed"))
    }
  }

  private func request(_ bytes: [UInt8]) -> Step {
    let json: JSON
    do { json = try JSON(parsing: bytes) } catch { return .failure(.malformed("This is no JSON: \(error).")) }
    do { return .request(try OIDCAgentRequest(json)) } catch { return .failure(.malformed(error.message)) }
  }

  /// Without the line's end that people's tools send.
  private var trimmed: ArraySlice<UInt8> {
    input[..<(input.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? 0)]
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
