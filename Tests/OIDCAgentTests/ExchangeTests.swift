import CSodium
import HearthControl
import HearthCore
import Testing

@testable import hearth_oidc_agent

/// A client as liboidc-agent is one, written with libsodium alone.
private struct SealedClient {
  let publicKey: String
  private let secretKey: [UInt8]

  init() {
    var (publicKey, secretKey) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    crypto_box_keypair(&publicKey, &secretKey)
    self.publicKey = Base64.encode(publicKey)
    self.secretKey = secretKey
  }

  func seal(_ text: String, for server: String) throws -> String {
    let (message, key) = (Array(text.utf8), try #require(Base64.decode(server)))
    var nonce = [UInt8](repeating: 0, count: 24)
    randombytes_buf(&nonce, 24)
    var sealed = [UInt8](repeating: 0, count: message.count + 16)
    #expect(crypto_box_easy(&sealed, message, UInt64(message.count), nonce, key, secretKey) == 0)
    return "\(message.count):\(Base64.encode(nonce)):\(Base64.encode(sealed))"
  }

  func open(_ bytes: [UInt8], of server: String) throws -> String {
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":").map(String.init)
    try #require(parts.count == 3)
    let (nonce, sealed) = (try #require(Base64.decode(parts[1])), try #require(Base64.decode(parts[2])))
    #expect(Int(parts[0]) == sealed.count - 16)
    var message = [UInt8](repeating: 0, count: sealed.count - 16)
    let key = try #require(Base64.decode(server))
    #expect(crypto_box_open_easy(&message, sealed, UInt64(sealed.count), nonce, key, secretKey) == 0)
    return String(decoding: message, as: UTF8.self)
  }
}

@Suite("A sealed exchange with a client of oidc-agent")
struct ExchangeTests {
  private func exchanged(_ exchange: inout Exchange, _ client: SealedClient) throws -> String {
    guard case .send(let server) = try exchange.receive(client.publicKey.utf8) else {
      throw hearth_oidc_agent.Failure.malformed("there is no key")
    }
    return server
  }

  @Test("is what libsodium's crypto_box opens and seals, in pieces of any size")
  func sealed() throws {
    let client = SealedClient()
    for size in [1, 7, 4096] {
      var exchange = Exchange()
      let server = try exchanged(&exchange, client)
      let bytes = Array(try client.seal(#"{"request":"loaded_accounts"}"#, for: server).utf8)
      var steps: [Exchange.Step] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        steps.append(try exchange.receive(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(steps.last == .request(.loadedAccounts))
      #expect(steps.dropLast().allSatisfy { $0 == .more })
      let answer = exchange.written(.success(info: ["work"]))
      #expect(try client.open(answer, of: server) == #"{"status":"success","info":["work"]}"#)
    }
  }

  @Test("has keys and nonces of its own")
  func keys() throws {
    let client = SealedClient()
    var (first, second) = (Exchange(), Exchange())
    #expect(try exchanged(&first, client) != exchanged(&second, client))
    #expect(first.written(.success()) != first.written(.success()))
  }

  @Test("that was tampered with is refused, and nothing is sealed any more")
  func tampered() throws {
    let client = SealedClient()
    for position in [5, 40, 60] {
      var exchange = Exchange()
      var bytes = Array(try client.seal(#"{"request":"check"}"#, for: exchanged(&exchange, client)).utf8)
      bytes[position] = bytes[position] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
      #expect(throws: hearth_oidc_agent.Failure("decryption failed"), "at \(position)") {
        _ = try exchange.receive(bytes)
      }
      #expect(exchange.written(.success()) == Array(#"{"status":"success"}"#.utf8))
    }
  }

  @Test("keeps the password of a lock, and refuses another")
  func passwords() throws {
    let password = try #require(Password(Secret("one")))
    #expect("\(password)".contains("$argon2id$") && !"\(password)".contains("one"))
    #expect(password.matches(Secret("one")) && !password.matches(Secret("two")))
  }
}
