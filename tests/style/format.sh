#!/bin/sh
# Fails when a file is not as clang-format would write it. Usage: format.sh SOURCE_DIR CLANG_FORMAT
cd "$1" || exit 2
files=$(find analysis-pass solver runtime libsplit tools tests benchmarks -name '*.h' -o -name '*.cpp' |
  grep -v '/inputs/')
# shellcheck disable=SC2086
said=$("$2" --dry-run -Werror $files 2>&1) && exit 0
wrong=$(echo "$said" | sed -n 's/:[0-9]*:[0-9]*: error:.*//p' | sort -u)
if [ -n "$wrong" ]; then
  echo "Not formatted; repair with: $2 -i" $wrong
else
  echo "$2 failed: $said"
fi
exit 1
