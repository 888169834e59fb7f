import Glibc
import HearthClient
import HearthControl
import HearthCore

/// A diagnostic report in one file, for people who help the user. It contains no secrets, because neither the daemon's
/// answers nor its log contain any.
struct Bundle {
  /// The maximum number of journal lines.
  private static let lines = 500

  var findings: [Finding] = []
  /// The daemon's answer to each method, or its error.
  private(set) var answers: [(method: String, answer: JSON)] = []

  mutating func ask(_ daemon: inout ControlClient) {
    for method in [GetInfo.name, ListSessions.name, GetOutboxStats.name, GetMetrics.name] {
      do {
        answers.append((method, try daemon.call(method)))
      } catch {
        answers.append((method, ["error": .string("\(error)")]))
      }
    }
  }

  var json: JSON {
    var members: JSONObject = [
      "madeAt": .string(Timestamp.now.description), "hearthctl": .string(HearthVersion.text),
      "system": .string(Self.system), "checks": .array(findings.map(\.json)),
    ]
    for (method, answer) in answers { members[method] = answer }
    members["log"] = .array((Journal.lines(Self.lines) ?? []).map { .string($0) })
    return .object(members)
  }

  /// Writes the report. Does not overwrite an existing file.
  func write(to path: String) throws {
    guard WholeFile.create(Array((json.indented() + "\n").utf8), at: path) else {
      throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    }
  }

  /// The versions of the kernel and the distribution.
  private static var system: String {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let about = (try? Input.file("/etc/os-release")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let pretty = about.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    return "Linux \(release)" + (pretty.map { ", " + $0.dropFirst(12).filter { $0 != "\"" } } ?? "")
  }
}
