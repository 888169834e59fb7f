import HearthCore

/// The paths of an account's credential file, its folder and its marker.
struct CredentialPlace: Hashable, Sendable {
  let file: String
  let folder: String
  let marker: String

  init(file: String, account: AccountName) {
    self.file = file
    folder = file.splitAtLastSlash.folder
    marker = "\(folder)/.hearth-\(account)"
  }

  enum Marker: Hashable, Sendable {
    case absent
    /// The marker exists. The identifier is `nil` if the marker does not contain a valid one.
    case present(String?)
  }

  func readMarker(_ files: any FileSystem) async throws -> Marker {
    do {
      let bytes = try await files.read(marker, limit: 1024, followsLink: false).bytes
      let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return .present(text.utf8.count == 32 && text.utf8.allSatisfy(\.isLowercaseHexDigit) ? text : nil)
    } catch {
      switch error {
      case .absent: return .absent
      case .tooBig: return .present(nil)
      default: throw error
      }
    }
  }

  private static let lockMark = "locked"

  /// Returns the marker's content: its identifier and, if the user has locked the account, a line that says so.
  static func markerBytes(_ identifier: String, isLocked: Bool) -> [UInt8] {
    Array("\(identifier)\n\(isLocked ? lockMark + "\n" : "")".utf8)
  }

  /// Returns whether the marker says that the user has locked the account. Returns false if the marker cannot be read.
  func marksLock(_ files: any FileSystem) async -> Bool {
    let bytes = try? await files.read(marker, limit: 1024, followsLink: false).bytes
    return bytes?.split(separator: UInt8(ascii: "\n")).dropFirst().contains { $0.elementsEqual(Self.lockMark.utf8) }
      ?? false
  }

  static func newIdentifier() -> String {
    let digits = String(UInt128.random(in: 0 ... .max), radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }
}
