import Dispatch
import FuzzTargets
import Glibc

/// The processor time of this process, in seconds.
private func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The time limit for an input, in seconds. A build for fuzzing is many times slower than a release build, but
/// quadratic growth still exceeds the limit.
private func bound(_ count: Int) -> Double { 1 + 0.0002 * Double(count) }

/// libFuzzer's own main, from `libclang_rt.fuzzer_no_main`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// Usage: hearth-fuzz TARGET [options of libFuzzer] (see LLVM's documentation, "libFuzzer").
nonisolated(unsafe) private var target = FuzzTarget.json

guard CommandLine.arguments.count > 1, let named = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
  print("usage: hearth-fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [folder] [-option=value]")
  exit(64)
}
target = named
let rest = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
var count = Int32(rest.count)
var arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: rest.count + 1)
for (index, argument) in rest.enumerated() { arguments[index] = strdup(argument) }
arguments[rest.count] = nil
exit(
  runFuzzer(&count, &arguments) { bytes, size in
    let input = Array(UnsafeBufferPointer(start: bytes, count: size))
    let (target, isDone) = (target, DispatchSemaphore(value: 0))
    let start = processorTime()
    // libFuzzer needs the result now, but checking signatures is asynchronous.
    Task.detached {
      do {
        try await target.run(input)
      } catch {
        fatalError("\(error)")
      }
      isDone.signal()
    }
    isDone.wait()
    let taken = processorTime() - start
    guard taken <= bound(size) else { fatalError("\(size) bytes took \(taken) s: more than \(bound(size)) s") }
    return 0
  })
