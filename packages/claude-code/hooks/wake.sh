#!/bin/sh
# Waits until something comes into the inbox of this pane, tells it on standard error and ends with 2, by which
# Claude Code begins a turn (asyncRewake): wake.sh AGENT [SECONDS]
umask 077
cat >/dev/null
exec 3>&2 2>/dev/null
# Claude Code 2.1.325 without a terminal, `claude -p`, would not end before its hooks have.
[ "${CLAUDE_CODE_ENTRYPOINT-}${CODEX_THREAD_ID-}${GEMINI_CLI-}${OPENCODE-}" = cli ] || exit 0
home=${POLY_HOME:-${HOME:+$HOME/.poly}}
case ${home:+${POLY_PANE-}} in '' | . | .. | */*) exit 0 ;; esac
inbox=$home/inbox/$POLY_PANE
agent=$1 left=${2:-86400} process=${CLAUDE_PID:-$PPID} bell=$inbox/bell.$$ code=0 child=
[ -d "$inbox/new" ] || mkdir -p "$inbox/new" "$inbox/taken" || exit 0
# A shell that fails ends with 2, which would begin a turn about nothing.
trap 'kill $child; rm -f "$bell"; exit $code' 0
trap 'exit 0' 1 2 15
# Whoever brings a message rings. It is open both ways from before the first look, so that no ring is lost.
rm -f "$bell"
mkfifo "$bell" && exec 4<>"$bell" && [ -p "$bell" ] || exit 0
# The last that came waits and those before it leave: so nothing is held by one that was killed.
printf '%s\n' $$ >"$inbox/waiting.$$" && mv "$inbox/waiting.$$" "$inbox/waiting" || exit 0
for other in "$inbox"/bell.*; do
  if [ "$other" = "$bell" ]; then continue; fi
  # A bell without its process was left behind.
  if kill -0 "${other##*.}"; then echo 1<>"$other"; else rm -f "$other"; fi
done
while kill -0 "$process" && [ "$left" -gt 0 ]; do
  read -r last <"$inbox/waiting" && [ "$last" = $$ ] || exit 0
  # What is for later comes along, and wakes nobody.
  come=
  for file in "$inbox"/new/*; do case $file in *.later) ;; *) [ ! -e "$file" ] || come=1 ;; esac done
  if [ "$come" ] && sh "${0%/*}/context.sh" "$agent" plain >&3 3>&- 4<&-; then
    code=2
    exit
  fi
  # Nobody rings when the agent is killed: so it looks for it now and then.
  beat=30
  [ "$left" -gt $beat ] || beat=$left
  timeout $beat head -n 1 <&4 >/dev/null 3>&- 4<&- &
  child=$!
  wait $child
  case $? in
    0) child= ;;
    124) child= left=$((left - beat)) ;;
    # Without `timeout` it has to look every second.
    *) child= left=$((left - 1)) && sleep 1 3>&- 4<&- ;;
  esac
done
