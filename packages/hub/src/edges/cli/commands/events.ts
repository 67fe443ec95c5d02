import { type Command, command } from '../command.ts';
import { text, wholeNumber } from '../flag.ts';

export const eventCommands: readonly Command[] = [
  command({
    name: 'events',
    summary: 'Follows what happens, over restarts of the hub too.',
    flags: {
      include: text("Which events: names, 'noun:*', or '*' for all, which is the default.", {
        value: 'A,B:*',
      }),
      since: wholeNumber('Begin behind this event, as far back as the log goes.', { value: 'SEQ' }),
    },
    examples: [
      "poly events --include 'pane:*'",
      'poly events --since 0 --json | jq .event',
      "poly events --include 'pane:exited,agent:*' --json",
    ],
    run: async (call) => (await import('../follow-events.ts')).followEvents(call),
  }),
];
