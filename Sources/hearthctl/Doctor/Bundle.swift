import Glibc
import HearthClient
import HearthControl
import HearthCore

/// What somebody who helps needs to know, as one file. Nothing in it is a secret: what the daemon tells and logs holds
/// none.
struct Bundle {
  /// How many lines of the journal there may be.
  private static let lines = 500

  var findings: [Finding] = []
  /// What the daemon answered, by the method; the error where it did not.
  private(set) var answers: [(method: String, answer: JSON)] = []

  mutating func ask(_ daemon: inout ControlClient) {
    for method in [GetInfo.name, ListSessions.name, GetOutboxStats.name, GetMetrics.name] {
      do {
        answers.append((method, try daemon.call(method)))
      } catch {
        answers.append((method, ["error": .string(error.description)]))
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

  /// What is there already stays as it is.
  func write(to path: String) throws(CommandFailure) {
    guard WholeFile.create(Array((json.indented() + "\n").utf8), at: path) else {
      throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    }
  }

  /// Kernel and distribution.
  private static var system: String {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let about = (try? Input.file("/etc/os-release")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let pretty = about.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    return "Linux \(release)" + (pretty.map { ", " + $0.dropFirst(12).filter { $0 != "\"" } } ?? "")
  }
}
