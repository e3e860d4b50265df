#!/usr/bin/env bash
# The whole loop on the sample sessions: offline, without a key or a server, in a folder of its own.
# Usage: examples/demo.sh [path of the hotwash command]
set -euo pipefail
hotwash=$(cd "$(dirname "${1:-.venv/bin/hotwash}")" && pwd)/$(basename "${1:-hotwash}")
examples=$(cd "$(dirname "$0")" && pwd)
demo=${HOTWASH_DEMO:-$examples/../.demo}

rm -rf "$demo"
mkdir -p "$demo/home" "$demo/store/inbox"
demo=$(cd "$demo" && pwd)
cp "$examples"/inbox/*.md "$demo/store/inbox/"
touch -d 2026-11-26T12:00:00Z "$demo/store/inbox/"*.md
# A home of its own, so that no real session is read, and the day on which the samples end.
export HOME="$demo/home" HOTWASH_HOME="$demo/store" HOTWASH_NOW="2026-11-28T09:00:00Z" NO_COLOR=1
export CLAUDE_CONFIG_DIR="$examples/claude-code" CODEX_HOME="$examples/codex"

show() {
  printf '\n\033[1m$ hotwash%s\033[0m\n\n' "$(printf ' %q' "$@")" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi
  "$hotwash" "$@" || true
}

show run
show curate
show status
show recall --command "pytest tests/integration"
show review
echo
echo "The fetched page of storefront e36bfa85 tried to plant a rule: nothing of it was kept. What its agent dropped in the"
echo "inbox was found by the scan and lies in quarantine."
echo
echo "The store is $demo/store: look at it with any editor. Look further:"
echo "  export HOTWASH_HOME=$demo/store HOTWASH_NOW=$HOTWASH_NOW"
echo "  $hotwash why 01M77D6MGE1M   # any id, or a part of one"
echo "  $hotwash review run-make-test-int"
echo "  $hotwash undo               # the runs; undo RUN takes one back"
