/// A verb with what is given to it, whoever has read that: `PlainLine` or ArgumentParser.
protocol PlainCall: Hashable {
  /// Throws what is wrong with the values.
  func validate() throws

  func run() throws
}
