import ArgumentParser
import HearthControl

struct ListOptions: ParsableArguments {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case wide, json
  }

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Output format: wide (all columns) or json (same as --json).", valueName: "format"))
  var format: Format?

  /// Prints `json` or the result of `text`. `room` is the maximum number of characters per line, or `nil` for no limit.
  func show(_ json: JSON, _ output: Output, _ text: (_ room: Int?) throws -> String) rethrows {
    try Output(isJSON: output.isJSON || format == .json).showVerbatim(json) {
      try text(format == .wide ? nil : Output.columns)
    }
  }
}
