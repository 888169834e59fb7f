@preconcurrency import Dispatch
import Glibc

/// What a signal asks the daemon to do.
package enum DaemonSignal: Hashable, Sendable {
  /// SIGTERM, SIGINT
  case stop
  /// SIGHUP
  case reload
}

/// The signals of this process as a stream, in place of their default effect.
package enum DaemonSignals {
  /// Returns as soon as the signals are caught. They are caught as long as the stream is read. One stream for each process.
  package static func stream() async -> AsyncStream<DaemonSignal> {
    let (stream, continuation) = AsyncStream<DaemonSignal>.makeStream()
    let meanings: [(Int32, DaemonSignal)] = [(SIGTERM, .stop), (SIGINT, .stop), (SIGHUP, .reload)]
    let queue = DispatchQueue(label: "hearth.signals")
    let sources = meanings.map { number, meaning in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { continuation.yield(meaning) }
      return source
    }
    for source in sources {
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
    continuation.onTermination = { _ in sources.forEach { $0.cancel() } }
    return stream
  }
}
