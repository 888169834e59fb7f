/// The version of this build, in `--version`, `daemon.getInfo` and the user agent.
let hearthVersion = "0.1.0"
