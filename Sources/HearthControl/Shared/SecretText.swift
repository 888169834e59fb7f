package import HearthCore

/// Extracts one secret from the content of a file or standard input. Accepts several formats, because users create such
/// files in various editors or reuse the files of other tools.
package enum SecretText {
  /// The kind of secret to look for in JSON.
  package enum Kind: Sendable {
    case clientSecret, refreshToken

    fileprivate var names: [String] {
      switch self {
      // Azure and Spring use the second name. Google, RFC 7591 and most others use the first.
      case .clientSecret: ["client_secret", "clientSecret"]
      case .refreshToken: ["refresh_token", "refreshToken"]
      }
    }
  }

  /// The reason why no secret was found, such as "is empty". It does not quote the file.
  package struct Refusal: Error, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// Returns the secret without a byte order mark or trailing newlines. If the text is a JSON object or array, returns
  /// the only secret of this kind in it.
  package static func secret(_ kind: Kind, in bytes: [UInt8]) throws -> Secret {
    guard !bytes.hasUTF16Mark else { throw Refusal(description: "is UTF-16 text and must be saved as UTF-8") }
    let bytes = bytes.withoutByteOrderMark
    // Treat text that is not valid JSON as the secret, because a secret may start with a brace too.
    if let json = try? JSON(parsing: bytes, allowsTwins: true), json.object != nil || json.array != nil {
      return Secret(try secret(kind, in: json))
    }
    return Secret(try line(kind, in: bytes))
  }

  private static func line(_ kind: Kind, in bytes: [UInt8]) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal(description: "is not UTF-8 text") }
    let line = String(text.reversed().drop(while: \.isNewline).reversed())
    guard !line.isEmpty else { throw Refusal(description: "is empty") }
    guard !text.contains("-----BEGIN ") else {
      throw Refusal(description: "is a key or a certificate (PEM), not a secret")
    }
    guard !line.contains(where: \.isNewline) else {
      throw Refusal(description: "has more than one line, but must contain only the secret")
    }
    guard !line.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw Refusal(description: "contains control characters (if the file is UTF-16, save it as UTF-8)")
    }
    guard !isSetting(line, of: kind) else {
      throw Refusal(description: "contains a name and a value, but must contain only the value")
    }
    return line
  }

  /// Returns whether the line looks like `CLIENT_SECRET=…`, `export MY_CLIENT_SECRET=…` or `client_secret: …`.
  private static func isSetting(_ line: String, of kind: Kind) -> Bool {
    guard let end = line.firstIndex(where: { $0 == "=" || $0 == ":" }) else { return false }
    let name = line[..<end].split(separator: " ").last.map { $0.lowercased() } ?? ""
    return kind.names.contains { name == $0.lowercased() || name.hasSuffix("_\($0.lowercased())") }
  }

  private static func secret(_ kind: Kind, in json: JSON) throws -> String {
    let found = Set(members(of: json).filter { kind.names.contains($0.name) }.map(\.text))
    // If no name matches, look in `credentials`, where Keycloak's adapters store the client secret.
    let other = kind == .clientSecret ? json["credentials"]?["secret"]?.string : nil
    let all = found.isEmpty ? [other].compactMap(\.self) : Array(found)
    guard all.count <= 1 else {
      throw Refusal(
        description: "is JSON with more than one \(kind.names[0]), so Hearth cannot tell which one to use")
    }
    guard let secret = all.first, !secret.isEmpty else {
      let isKey = json["private_key"] != nil
      throw Refusal(
        description: "is JSON, not a secret, and contains no \(kind.names[0])"
          + (isKey ? " (it is a service account key)" : ""))
    }
    return secret
  }

  /// Returns the strings in an object and in up to two levels of nested objects and arrays. For example, Google nests
  /// the client secret in `installed` or `web`.
  private static func members(of json: JSON, depth: Int = 0) -> [(name: String, text: String)] {
    guard depth < 3 else { return [] }
    if let elements = json.array { return elements.flatMap { members(of: $0, depth: depth + 1) } }
    return (json.object?.members ?? []).flatMap { member in
      member.value.string.map { [(member.key, $0)] } ?? members(of: member.value, depth: depth + 1)
    }
  }
}
