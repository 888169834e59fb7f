import ArgumentParser
import HearthControl

struct RequestVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request", abstract: "Send one HTTP request with the account's token and print the answer's body.",
    discussion: "An answer of 400 and above is a failure (1); its body is printed all the same.")

  @OptionGroup var http: HTTPOptions
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(help: ArgumentHelp("How long to wait for the answer.", valueName: "seconds"))
  var timeout: Int?

  @Flag(help: "Take an answer from before where the server cannot be reached.")
  var staleIfError = false

  @Flag(name: .shortAndLong, help: "Print status and headers first.")
  var include = false

  func validate() throws {
    if let timeout, timeout <= 0 { throw ValidationError("--timeout is a number of seconds, 1 or more.") }
  }

  func run() throws {
    var params = try http.params()
    if let timeout { params["timeoutSeconds"] = JSON(timeout) }
    if staleIfError { params["cache"] = "staleIfError" }
    var daemon = try daemonOptions.connect()
    // The daemon's own limits come first: this one is for a daemon that hangs.
    let json = try daemon.call(.httpRequest, params, within: .seconds((timeout ?? 60) + 60))
    guard let status = json["status"]?.int else { throw CommandFailure.notUnderstood("http.request") }
    if daemonOptions.json {
      daemonOptions.output.json(json)
    } else {
      if include { daemonOptions.output.line(head(status, json["headers"])) }
      let body =
        json["body"]?.string.map { Array($0.utf8) } ?? json["bodyBase64"]?.string.flatMap { Base64.decode($0) } ?? []
      daemonOptions.output.bytes(body)
      if json["fromCache"]?.bool == true {
        let age = json["ageSeconds"]?.int.map { ", \(Moment.span($0)) old" } ?? ""
        Output.note("This answer is from before\(age): the server cannot be reached.")
      }
    }
    guard status < 400 else { throw CommandFailure(.failed, "The server answered \(status).") }
  }

  private func head(_ status: Int, _ headers: JSON?) -> String {
    var lines = ["\(status)"]
    for member in headers?.object?.members ?? [] {
      for value in member.value.array ?? [member.value] { lines.append("\(member.key): \(value.string ?? "")") }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
