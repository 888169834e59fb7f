import HearthControl
import HearthCore

/// The exchange with one client. Either the client sends a JSON request, or it sends its public key, receives the
/// agent's public key and sends an encrypted request (oidc-agent 4). Messages are not delimited, so their end is found
/// by parsing.
struct Exchange {
  enum Step: Hashable {
    case more
    /// Text to send to the client, which then continues the exchange.
    case send(String)
    case request(Request)
  }

  /// The maximum length of a message in bytes, encrypted or not.
  static let limit = 64 << 10

  private var input: [UInt8] = []
  private var objectEnd = ObjectEnd()
  private var cipher: Cipher?

  /// Whether no part of the current message has arrived.
  var isAtStart: Bool { input.isEmpty }

  /// Throws the failure with which to answer an invalid message. It ends the exchange.
  mutating func receive(_ bytes: some Collection<UInt8>) throws -> Step {
    guard input.count + bytes.count <= Self.limit else {
      throw Failure.malformed("A request must not be longer than \(Self.limit >> 10) KiB.")
    }
    let bytes = input.isEmpty ? Array(bytes.drop(while: Self.isSpace)) : Array(bytes)
    input += bytes
    guard let first = input.first else { return .more }
    if let cipher { return try openedStep(cipher) }
    if first == UInt8(ascii: "{") { return objectEnd.isReached(in: bytes) ? try request(input) : .more }
    return try keyStep()
  }

  /// Encodes an answer. If the request was encrypted, encrypts the answer too.
  func written(_ answer: Answer) -> [UInt8] {
    let bytes = answer.json.bytes
    return cipher.map { Array($0.seal(bytes).utf8) } ?? bytes
  }

  private mutating func keyStep() throws -> Step {
    let key = trimmed
    guard key.allSatisfy(Self.isBase64), key.count <= Cipher.encodedKeyLength else {
      throw Failure.malformed("The request is neither a JSON object nor a public key.")
    }
    guard key.count == Cipher.encodedKeyLength else { return .more }
    guard let cipher = Cipher(peer: String(decoding: key, as: UTF8.self)) else {
      throw Failure("received suspicious public key")
    }
    self.cipher = cipher
    input = []
    return .send(cipher.publicKey)
  }

  private mutating func openedStep(_ cipher: Cipher) throws -> Step {
    let message: [UInt8]?
    do { message = try cipher.open(trimmed) } catch {
      // Do not encrypt the answer, because the client does not have the right key.
      self.cipher = nil
      throw error
    }
    guard let message else { return .more }
    return try request(message)
  }

  private func request(_ bytes: [UInt8]) throws -> Step {
    let json: JSON
    do { json = try JSON(parsing: bytes) } catch { throw Failure.malformed("The request is not JSON: \(error).") }
    return .request(try Request(json))
  }

  /// The input without trailing white space, which some tools append.
  private var trimmed: ArraySlice<UInt8> {
    input[..<(input.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? 0)]
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }

  private static func isBase64(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "+/=".utf8.contains(byte)
  }
}

/// Finds the end of a JSON object that arrives in pieces. The JSON parser then validates the object.
private struct ObjectEnd {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// Returns whether the object ends within these bytes.
  mutating func isReached(in bytes: some Sequence<UInt8>) -> Bool {
    for byte in bytes where isReached(by: byte) { return true }
    return false
  }

  private mutating func isReached(by byte: UInt8) -> Bool {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      return false
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"): depth += 1
    case UInt8(ascii: "}"):
      depth -= 1
      return depth <= 0
    default: break
    }
    return false
  }
}
