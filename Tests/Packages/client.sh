#!/bin/bash
# client.sh: builds a separate package that depends on a version of Hearth and uses only HearthClient, as other people's
# packages do. It must fetch and build nothing else.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

echo "check: a package that uses only HearthClient fetches and builds nothing else"
# Tags a copy of the current files, because this folder may not be a clone, or may be one without history.
mkdir "$stage/hearth"
cp -R "$root"/{Package.swift,Sources,Tests,Benchmarks,etc} "$stage/hearth/"
hearth() { git -C "$stage/hearth" -c user.name=check -c user.email=check@example.org "$@"; }
hearth init --quiet
hearth add .
hearth commit --quiet --no-gpg-sign --message "Hearth"
hearth tag 999.0.0
mkdir -p "$stage/other/Sources/other"
cp "$root/etc/examples/hearth-follow/"*.swift "$stage/other/Sources/other/"
cat > "$stage/other/Package.swift" << SWIFT
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "other", dependencies: [.package(url: "file://$stage/hearth", from: "999.0.0", traits: [])],
  targets: [.executableTarget(name: "other", dependencies: [.product(name: "HearthClient", package: "hearth")])])
SWIFT
cd "$stage/other"
"${SWIFT:-swift}" build --cache-path "$stage/cache" > "$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }
fetched=$(ls .build/checkouts)
[ "$fetched" = hearth ] || { echo "failed: it fetches $fetched"; exit 1; }
built=$(find .build/debug/*.build -name '*.o' | cut -d / -f 3 | sort -u | tr '\n' ' ')
[ "$built" = "HearthClient.build HearthControl.build HearthCore.build HearthThreads.build other.build " ] \
  || { echo "failed: it builds $built"; exit 1; }
