/// The version of this build, as `--version`, `daemon.getInfo` and the user agent tell it.
let hearthVersion = "0.1.0"
