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
  printf '\n\033[1m$ hotwash %s\033[0m\n\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi
  "$hotwash" "$@" || true
}

show run
show curate
show status
show recall --command "pytest tests/integration"
show review
printf '\nThe store is %s: look at it with any editor.\n' "${demo/#$PWD\//}/store"
printf 'Look further: export HOTWASH_HOME=%s/store; hotwash why ID; hotwash review NAME; hotwash undo\n' "$demo"
