import ArgumentParser
import HearthClient
import HearthControl

/// A helper that another program runs. That program reads a failure in one place and in one form only, so each helper says
/// it there, as the document of its protocol has it.
protocol HelperCall: PlainCall {
  /// Prints the answer.
  func answer() throws

  /// Says a failure where the program reads it. Returns what is left for standard error and the exit status, or nil if the
  /// protocol reads a failure only from a program that exits with 0.
  func say(_ failure: CommandFailure) -> CommandFailure?
}

extension HelperCall {
  /// Most programs show what a helper writes to standard error, and look only at its exit status.
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
  /// Returns nil for an error that only the command line's parser can put in words.
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
