import HearthControl
import TestSupport

/// An HTTP/1.1 request to loopback, which sends and returns JSON.
enum HTTP {
  struct Answer {
    let status: Int
    let body: JSON
  }

  static func send(_ method: String, port: Int, _ path: String, _ body: JSON? = nil) throws -> Answer {
    let answer = try RawHTTP.send(
      method, port: port, path, headers: [("Content-Type", "application/json")],
      body: String(decoding: body?.bytes ?? [], as: UTF8.self))
    return Answer(
      status: answer.status, body: answer.body.isEmpty ? .null : try JSON(parsing: Array(answer.body.utf8)))
  }
}
