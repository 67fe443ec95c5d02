#!/bin/sh
# The two agents of `poly demo`: agents.sh ada|bruno. No model thinks here: each follows its lines, with the commands
# that every agent has.
set -e

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

run() {
  printf '\033[36m$ poly'
  for word; do case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac done
  printf '\033[0m\n'
  "$POLY" "$@"
}

wait_for_mail() {
  until "$POLY" mail inbox --peek --json | grep -q message_id; do sleep 0.5; done
  run mail inbox
}

ada() {
  say 'I keep the API of the shop. Its contract is a file: whoever builds on it hears of every change.'
  run mail register ada --role api
  run contract watch openapi.yaml
  say 'Who builds the checkout?'
  until "$POLY" mail agents --json | grep -q '"name":"bruno"'; do sleep 0.5; done
  run mail agents
  run mail send bruno 'Refunds are in openapi.yaml. Can you show them in the checkout?' --subject refunds
  wait_for_mail
  say 'The bank wants to know why money goes back. I change the file, and tell nobody.'
  sed -i.before 's/required: \[order\]/required: [order, reason]/' openapi.yaml
  grep -n 'required:' openapi.yaml
  wait_for_mail
  say 'Nobody had to remember to call anything.'
  run contract unwatch openapi.yaml
}

bruno() {
  say 'I build the checkout.'
  run mail register bruno --role checkout
  wait_for_mail
  run task add 'Show refunds in the checkout' --contract openapi.yaml
  task=$("$POLY" task list --json | grep -o 'tsk_[0-9a-z]*' | head -n 1)
  run task claim "$task"
  run mail send ada 'I build it on what openapi.yaml says now.' --subject refunds
  say 'I work …'
  wait_for_mail
  say 'It is nearly done. I try to complete it all the same:'
  if run task complete "$task" --result 'refunds are shown'; then exit 1; fi
  say 'So I look at what has changed, mend my work, and say that I know.'
  run contract diff openapi.yaml 1 2
  run contract ack openapi.yaml
  run task complete "$task" --result 'refunds are shown, with their reason'
  run mail send ada 'Done, and it asks for the reason.' --subject refunds --no-reply
}

"$1"
run mail unregister
