import HearthCore

/// The places that the files of sinks may not have: those of Hearth's own files, and each other's.
struct SinkPlaces {
  struct Place {
    let path: String
    /// The words for people, such as `the daemon's socket`.
    let what: String
    /// Everything in the folder is taken, too.
    let isFolder: Bool

    init(_ path: String, _ what: String, isFolder: Bool = false) {
      (self.path, self.what, self.isFolder) = (path, what, isFolder)
    }

    func covers(_ other: String) -> Bool { other == path || isFolder && other.hasPrefix(path + "/") }
  }

  private var taken: [Place]

  init(_ taken: [Place]) { self.taken = taken }

  mutating func take(_ path: String, _ what: String) { taken.append(Place(path, what)) }

  /// Returns what is at this path already. If that is nil, the path was free, and is the account's sink's from now on.
  mutating func take(_ sink: SinkSettings) -> String? {
    if let place = taken.first(where: { $0.covers(sink.path) }) { return place.what }
    taken.append(Place(sink.path, "another sink, of [accounts.\(sink.account)]"))
    return nil
  }
}
