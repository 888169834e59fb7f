import ArgumentParser
import HearthClient
import HearthControl

/// A credential helper that another program runs. The other program determines where and how the helper must report
/// failures.
protocol HelperCall: ParsableCommand {
  func answer() throws

  /// Reports a failure in the way that the program expects. Returns the failure to report on stderr and in the exit
  /// status, or `nil` if the helper must exit with 0.
  func say(_ failure: CommandFailure) -> CommandFailure?
}

extension HelperCall {
  /// Reports the failure through stderr and the exit status, as most programs expect.
  func say(_ failure: CommandFailure) -> CommandFailure? { failure }

  func run() throws {
    do {
      try answer()
    } catch {
      guard let failure = CommandFailure(of: error) else { throw error }
      if let rest = say(failure) { throw rest }
    }
  }
}

extension CommandFailure {
  /// Converts an error to a failure, or returns `nil` if only ArgumentParser can describe the error.
  fileprivate init?(of error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as ControlClient.Failure: self.init(ExitStatus(error), error.description)
    case let error as RPCError: self.init(ExitStatus(error), error.message)
    case let error as ValidationError: self.init(.usage, error.message)
    default: return nil
    }
  }
}
