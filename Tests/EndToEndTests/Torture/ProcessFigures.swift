import Glibc
import TestSupport

/// What a process uses now (proc(5)).
struct ProcessFigures: CustomStringConvertible {
  /// KiB of memory that no file backs.
  let memory: Int
  /// Zero where this process may not know.
  let descriptors: Int
  /// Seconds of processor time so far.
  let processorTime: Double

  init(of process: pid_t) {
    let status = Files.text("/proc/\(process)/status").split(separator: "\n")
    memory =
      status.first { $0.hasPrefix("RssAnon:") }?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    descriptors = Files.names(in: "/proc/\(process)/fd").count
    // The second field, a name in parentheses, may hold blanks.
    let fields = Files.text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = [11, 12].reduce(0) { $0 + (fields.count > $1 ? Int(fields[$1]) ?? 0 : 0) }
    processorTime = Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  var description: String { "\(memory >> 10) MiB, \(descriptors) descriptors" }
}
