#!/bin/sh
# Drops one hook event of a coding agent, read from standard input, into the journal of the hub: capture.sh AGENT
# It says nothing, waits for nobody and always succeeds, whatever became of the hub or the disk.
umask 077
# What it runs would else load a locale, which takes as long as the work.
export LC_ALL=C
exec >/dev/null 2>&1
home=${POLY_HOME:-${HOME:+$HOME/.poly}}
if [ -z "$home" ]; then
  # As the hub does, it goes by the home that the system knows; without one there is nowhere to put anything.
  user=$(id -un)
  case $user in '' | *[!A-Za-z0-9._-]*) ;; *) eval "home=~$user/.poly" ;; esac
  case $home in /*) ;; *) cat; exit 0 ;; esac
fi
journal=$home/journal
# Names sort by process where two events share a moment; the rest is never drawn twice.
order=0000000000$$
order=${order#"${order%??????????}"}
read -r id </proc/sys/kernel/random/uuid || id=$(uuidgen) || id=$(date +%s)-$PPID
draft=$journal/tmp/$order-$id
# What agents set for their tools, and so for an agent that runs as one; Claude Code sets CLAUDECODE for its hooks too.
tool=${CODEX_THREAD_ID:+codex}${GEMINI_CLI:+gemini}${OPENCODE:+opencode}${CLAUDE_CODE_EXECPATH:+claude}
parent=$PPID
if [ "$1" = claude ]; then
  # It names its own process: the shell that ran this may have ended before the hub looks whose it was.
  parent=${CLAUDE_PID:-$PPID}
else
  tool=$tool${CLAUDECODE:+claude}
fi
[ -d "$journal/tmp" ] || mkdir -p "$journal/tmp" "$journal/new" "$journal/dead"
if printf '%s\n' 'poly-capture 1' "agent $1" "pane ${POLY_PANE-}" "token ${POLY_TOKEN-}" \
  "tmux ${TMUX_PANE-} ${TMUX-}" "parent $parent" "from $0" "tool $tool" '' >"$draft" && cat >>"$draft"; then
  # A second name, for it starts faster than a move: the hub takes the first one away.
  ln "$draft" "$journal/new/$order-$id" || { mkdir -p "$journal/new"; mv "$draft" "$journal/new/$order-$id"; }
else
  # Even a full disk mostly takes a name: it tells that something is missing. Else one byte, where there is room for it.
  missed=$journal/missed
  if mv "$draft" "$journal/new/$order-$id.cut" || [ -L "$missed" ]; then :; elif [ -f "$missed" ] || [ ! -e "$missed" ]; then
    printf 1 1<>"$missed"
  fi
  cat
fi
exit 0
