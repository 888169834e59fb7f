#!/bin/sh
# date.sh: prints the time of the last change, in seconds since 1970: the date of everything that is packaged.
cd "$(dirname "$0")/.."
git log -1 --format=%ct 2> /dev/null || stat --format %Y CHANGELOG.md
