import HearthCore

/// The places that the files of sinks may not have: those of Hearth's own files, and each other's.
struct SinkPlaces {
  struct Place {
    let path: String
    /// For people: `the daemon's socket`.
    let what: String
    /// All that is in it is taken too.
    let isFolder: Bool

    init(_ path: String, _ what: String, isFolder: Bool = false) {
      (self.path, self.what, self.isFolder) = (path, what, isFolder)
    }

    func covers(_ other: String) -> Bool { other == path || isFolder && other.hasPrefix(path + "/") }
  }

  private var taken: [Place]

  init(_ taken: [Place]) { self.taken = taken }

  mutating func take(_ path: String, _ what: String) { taken.append(Place(path, what)) }

  /// What is at this path already; nil: it is free, and taken from now on by the account's sink.
  mutating func take(_ sink: SinkSettings) -> String? {
    if let place = taken.first(where: { $0.covers(sink.path) }) { return place.what }
    taken.append(Place(sink.path, "another sink, of [accounts.\(sink.account)]"))
    return nil
  }
}
