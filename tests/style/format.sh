#!/bin/sh
# Fails when a file is not as clang-format would write it. Usage: format.sh SOURCE_DIR CLANG_FORMAT
cd "$1" || exit 2
files=$(find analysis-pass solver runtime libsplit tools tests benchmarks -name '*.h' -o -name '*.cpp' |
  grep -v '/inputs/')
# shellcheck disable=SC2086
wrong=$("$2" --dry-run $files 2>&1 | sed -n 's/:[0-9]*:[0-9]*: warning:.*//p' | sort -u)
[ -z "$wrong" ] && exit 0
echo "Not formatted; repair with: $2 -i" $wrong
exit 1
