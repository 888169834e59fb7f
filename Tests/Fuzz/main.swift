import Dispatch
import FuzzTargets
import Glibc

/// libFuzzer's own main, from `libclang_rt.fuzzer_no_main`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// hearth-fuzz TARGET [what libFuzzer takes]: LLVM's documentation, "libFuzzer".
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
    // libFuzzer waits for the answer, and what is read of signatures is asynchronous.
    Task.detached {
      do {
        try await target.run(input)
      } catch {
        fatalError("\(error)")
      }
      isDone.signal()
    }
    isDone.wait()
    return 0
  })
