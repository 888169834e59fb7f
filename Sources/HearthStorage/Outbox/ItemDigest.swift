internal import Crypto
internal import FoundationEssentials
internal import GRDB
internal import HearthCore

enum ItemDigest {
  /// Returns the SHA-256 of an item's content. Each part is preceded by its length, so that different contents never
  /// produce the same bytes. Ignores the case and order of header names, but not the order of values with the same name
  /// (RFC 9110, section 5.3).
  static func content(method: String, url: String, headers: [APIRequest.Header], body: some Collection<UInt8>) -> Data {
    var hash = SHA256()
    func add(_ bytes: some Collection<UInt8>) {
      withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
      if bytes.withContiguousStorageIfAvailable({ hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }) == nil {
        hash.update(data: Array(bytes))
      }
    }
    add(method.utf8)
    add(url.utf8)
    let headers = headers.enumerated().map { (name: $1.name.lowercased(), place: $0, value: $1.value) }
    for header in headers.sorted(by: { ($0.name, $0.place) < ($1.name, $1.place) }) {
      add(header.name.utf8)
      add(header.value.utf8)
    }
    add([])
    add(body)
    return Data(hash.finalize())
  }

  /// Returns the checksum to store with an item's content. Hearth verifies the checksum before it sends the item.
  static func checksum(_ content: Data, idempotencyKey: String) -> Int64 {
    var hash = SHA256()
    hash.update(data: content)
    hash.update(data: Array(idempotencyKey.utf8))
    return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }.littleEndian
  }

  /// Calls `body` for each item that has content, with its number, id, stored checksum and actual checksum.
  static func forEachContent(
    in db: Database, _ body: (Int64, String, _ kept: Int64?, _ actual: Int64) throws -> Void
  ) throws {
    let sql = """
      SELECT n, id, method, url, idempotency_key, headers, body, checksum
      FROM items JOIN contents ON item = n
      """
    try db.forEachRow(sql) { row in
      let content = content(
        method: try row.name(2), url: try row.name(3), headers: [APIRequest.Header](stored: try row.name(5)),
        body: try row.blob(6) ?? [])
      let actual = checksum(content, idempotencyKey: try row.name(4))
      try body(try row.number(0), try row.name(1), try row.integer(7), actual)
    }
  }
}
