#!/bin/sh
# date.sh: prints the time of the last commit, in seconds since 1970. Packages use it as their date.
cd "$(dirname "$0")/.."
git log -1 --format=%ct 2> /dev/null || stat --format %Y CHANGELOG.md
