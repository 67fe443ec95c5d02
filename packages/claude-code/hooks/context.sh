#!/bin/sh
# Answers a hook of a coding agent with what waits in the inbox of its pane, each message once: context.sh AGENT
# It asks nobody and holds up nothing: where anything is wrong, the agent goes on as if nothing had come.
# `context.sh AGENT plain` prints the bare text, and fails where there is none: wake.sh begins a turn with it.
umask 077
exec 2>/dev/null
LC_ALL=C
home=${POLY_HOME:-${HOME:+$HOME/.poly}}
inbox=$home/inbox/${POLY_PANE-}
agent=$1 plain=${2-} code=${2:+1}
# A shell that fails ends with 2, which agents take for a veto.
trap 'exit ${code:-0}' 0
case ${home:+${POLY_PANE-}} in '' | . | .. | */*) set -- ;; *) set -- "$inbox"/new/* ;; esac
if [ ! -e "${1-}" ]; then
  [ "$plain" ] || cat >/dev/null
  exit
fi

if [ -z "$plain" ]; then
  # What says which event this is stands first, before anything the agent's model could have written.
  payload=$(head -c 4096)
  cat >/dev/null
  event=${payload#*'"hook_event_name"'}
  event=${event#*'"'}
  event=${event%%'"'*}
  # Nobody has written to a subagent, nor to an agent that runs as a tool of the one in this pane: tools are told by
  # what their agent sets for them. Claude Code sets CLAUDECODE for its own hooks too, and has no terminal as a tool.
  case $payload in *'"agent_id"'*) exit ;; esac
  case $agent:${CLAUDECODE-}:${CLAUDE_CODE_ENTRYPOINT-} in claude:*:sdk* | codex:?*:* | gemini:?*:*) exit ;; esac
  [ -z "${CODEX_THREAD_ID-}${GEMINI_CLI-}${OPENCODE-}" ] || exit
  # Only these events bring an answer to the model.
  case $agent:$event in
    claude:SessionStart | claude:UserPromptSubmit | claude:PreToolUse | claude:PostToolUse | claude:PostToolBatch) ;;
    codex:SessionStart | codex:UserPromptSubmit | codex:PreToolUse | codex:PostToolUse) ;;
    gemini:SessionStart | gemini:BeforeAgent | gemini:AfterTool) ;;
    *) exit ;;
  esac
fi

# Whether a turn has seen it is told otherwise by one that was woken than by one whose hook this is.
if [ "$plain" ]; then shelf=$inbox/woken; else shelf=$inbox/taken; fi
[ -d "$shelf" ] || mkdir "$shelf"
set --
give_back() {
  for file; do mv "$file" "$inbox/new/"; done
}
trap 'give_back "$@"; exit' 1 2 13 15
size=0
for file in "$inbox"/new/*; do
  # Some 64 KiB at a time; the rest comes with the next event.
  [ "$size" -lt 65536 ] || break
  [ -f "$file" ] && [ ! -L "$file" ] || continue
  bytes=$(wc -c <"$file") || continue
  # Of two hooks at the same time, the one that moves it has it.
  mv "$file" "$shelf/${file##*/}" || continue
  set -- "$@" "$shelf/${file##*/}"
  size=$((size + bytes))
done
[ $# -gt 0 ] || exit

told() {
  between=
  for file; do
    printf "$between" && cat "$file" || return
    between='\n\n'
  done
}

# Bytes as numbers, and so the same in every awk and locale: what is no UTF-8 becomes U+FFFD, what is no ASCII \u….
json() {
  od -An -v -tu1 | awk -v event="$event" '
    function put(code) {
      if (code in plain) line = line plain[code]
      else if (code < 65536) line = line sprintf("\\u%04x", code)
      else line = line sprintf("\\u%04x\\u%04x", 55232 + int(code / 1024), 56320 + code % 1024)
    }
    function expect(count, bits, from, to) { more = count; code = bits; low = from; high = to }
    BEGIN {
      for (i = 32; i < 127; i++) plain[i] = sprintf("%c", i)
      plain[34] = "\\\""; plain[92] = "\\\\"; plain[10] = "\\n"; plain[9] = "\\t"
      line = "{\"hookSpecificOutput\":{\"hookEventName\":\"" event "\",\"additionalContext\":\""
    }
    {
      for (i = 1; i <= NF; i++) {
        byte = $i + 0
        if (more && byte >= low && byte <= high) {
          code = code * 64 + byte - 128
          low = 128; high = 191
          if (--more == 0) put(code)
          continue
        }
        if (more) { more = 0; put(65533) }
        if (byte < 128) put(byte)
        else if (byte >= 194 && byte < 224) expect(1, byte - 192, 128, 191)
        else if (byte >= 224 && byte < 240) expect(2, byte - 224, byte == 224 ? 160 : 128, byte == 237 ? 159 : 191)
        else if (byte >= 240 && byte < 245) expect(3, byte - 240, byte == 240 ? 144 : 128, byte == 244 ? 143 : 191)
        else put(65533)
      }
      printf "%s", line
      line = ""
    }
    END {
      if (NR == 0) exit
      if (more) put(65533)
      print line "\"}}"
    }'
}

if [ "$plain" ]; then told "$@"; else told "$@" | json; fi && code=0 || give_back "$@"
