/** What each shell needs; all of them ask `poly __complete` with the words typed so far. */
export const scripts = {
  // bash breaks words at ":", and so the line is read anew, and what stands before the colon is not offered twice.
  bash: `
_poly() {
  local IFS=$' \\t\\n' line="\${COMP_LINE:0:COMP_POINT}" words cur before=""
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  cur="\${words[\${#words[@]}-1]}"
  [[ "$cur" == *:* && "$COMP_WORDBREAKS" == *:* ]] && before="\${cur%"\${cur##*:}"}"
  IFS=$'\\n'
  COMPREPLY=($(poly __complete "\${words[@]:1}" 2>/dev/null))
  COMPREPLY=("\${COMPREPLY[@]#"$before"}")
}
complete -o default -F _poly poly
`,
  zsh: `
#compdef poly
_poly() {
  local -a found
  found=("\${(@f)$(poly __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
if [[ "$funcstack[1]" == _poly ]]; then _poly "$@"; else compdef _poly poly; fi
`,
  fish: `
function __poly_complete
  set -l words (commandline -opc)
  set -l cur (commandline -ct)
  poly __complete $words[2..-1] "$cur" 2>/dev/null
end
complete -c poly -f -a '(__poly_complete)'
complete -c poly -n 'not count (__poly_complete) >/dev/null' -F
`,
} as const;
