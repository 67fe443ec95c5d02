#!/bin/sh
# Waits until something comes into the inbox of this pane, tells it on standard error and ends with 2, by which
# Claude Code begins a turn (asyncRewake): wake.sh AGENT [SECONDS]
umask 077
cat >/dev/null
exec 3>&2 2>/dev/null
# Claude Code 2.1.325 without a terminal, `claude -p`, would not end before its hooks have.
[ "${CLAUDE_CODE_ENTRYPOINT-}" = cli ] || exit 0
home=${POLY_HOME:-${HOME:+$HOME/.poly}}
case ${home:+${POLY_PANE-}} in '' | . | .. | */*) exit 0 ;; esac
inbox=$home/inbox/$POLY_PANE
agent=$1 left=${2:-86400} process=${CLAUDE_PID:-$PPID}
[ -d "$inbox/new" ] || mkdir -p "$inbox/new" "$inbox/taken" || exit 0
# The last that came waits and those before it leave: so nothing is held by one that was killed.
printf '%s\n' $$ >"$inbox/waiting.$$" && mv "$inbox/waiting.$$" "$inbox/waiting" || exit 0
while kill -0 "$process" && [ "$left" -gt 0 ]; do
  read -r last <"$inbox/waiting" && [ "$last" = $$ ] || exit 0
  set -- "$inbox"/new/*
  [ -e "$1" ] && sh "${0%/*}/context.sh" "$agent" plain >&3 && exit 2
  sleep 1
  left=$((left - 1))
done
exit 0
