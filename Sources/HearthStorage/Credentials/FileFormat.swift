import FoundationEssentials
import HearthCore

/// The reason why a file's contents cannot be used. The strings are human-readable and never quote the file's values.
enum FileFormatError: Error, Hashable {
  case corrupt(String)
  /// A newer version of Hearth wrote the file.
  case tooNew(version: Int)
}

/// The format of credential files, accounts.json and pending revocations: a JSON object with the format's `version`.
enum FileFormat {
  private struct Version: Decodable {
    let version: Int
  }

  /// Decodes an object of the given version. Throws `tooNew` for a newer version, regardless of its other content.
  /// `modified` becomes the decoder's `fileModified`.
  static func decode<Document: Decodable>(
    _ type: Document.Type, version: Int, from bytes: [UInt8], modified: Timestamp? = nil
  ) throws(FileFormatError) -> Document {
    let found = try decode(Version.self, from: bytes).version
    guard found <= version else { throw .tooNew(version: found) }
    guard found == version else { throw .corrupt("its version is unknown") }
    return try decode(type, from: bytes, modified: modified)
  }

  static func decode<Document: Decodable>(
    _ type: Document.Type, from bytes: [UInt8], modified: Timestamp? = nil
  ) throws(FileFormatError) -> Document {
    let decoder = JSONDecoder()
    decoder.userInfo[.fileModified] = modified
    do {
      let bytes = bytes.withoutByteOrderMark
      let text = String(validating: bytes, as: UTF8.self).map { Array($0.streamSafe.utf8) } ?? bytes
      return try decoder.decode(type, from: Data(text))
    } catch let error as FileFormatError {
      throw error
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      throw .corrupt("its field \"\(context.path)\" has the wrong type")
    } catch DecodingError.keyNotFound(let key, let context) {
      throw .corrupt("its field \"\((context.path.isEmpty ? "" : context.path + ".") + key.stringValue)\" is missing")
    } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
      throw .corrupt("its field \"\(context.path)\" is malformed")
    } catch {
      throw .corrupt("it is not JSON")
    }
  }

  /// Encodes with sorted keys, so that equal values have equal bytes.
  static func encode(_ document: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(document) else {
      preconditionFailure("strings and numbers can always be encoded as JSON")
    }
    return Array(data)
  }
}

extension CodingUserInfoKey {
  fileprivate static let fileModified = CodingUserInfoKey(rawValue: "fileModified")!
}

extension Decoder {
  var fileModified: Timestamp {
    guard let modified = userInfo[.fileModified] as? Timestamp else {
      preconditionFailure("the decoder has no modification time")
    }
    return modified
  }
}

extension DecodingError.Context {
  /// The path to the value. Keys that cannot be field or account names are masked, because they may be secrets.
  fileprivate var path: String {
    codingPath.map { AccountName($0.stringValue) == nil ? "…" : $0.stringValue }.joined(separator: ".")
  }
}
