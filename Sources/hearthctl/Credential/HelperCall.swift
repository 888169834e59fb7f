import ArgumentParser
import HearthClient
import HearthControl

/// A helper that another program runs. Each such program reads failures in one place and one form, so each helper
/// reports them in the way that its protocol defines.
protocol HelperCall: PlainCall {
  /// Prints the answer.
  func answer() throws

  /// Reports a failure where the program reads it. Returns what remains for standard error and the exit status, or
  /// `nil` if the protocol accepts failures only from a program that exits with 0.
  func say(_ failure: CommandFailure) -> CommandFailure?
}

extension HelperCall {
  /// Most programs show a helper's standard error and check only its exit status.
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
  /// Returns `nil` for errors that only the command line parser can describe.
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
