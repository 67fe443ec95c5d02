import { type Command, command } from '../command.ts';

export const demoCommands: readonly Command[] = [
  command({
    name: 'demo',
    summary:
      'Shows two agents that share a contract: they find each other, write, and one hears what the other changes.',
    startsHub: true,
    examples: ['poly demo', 'poly demo --json | jq .event'],
    run: async (call) => (await import('../demo.ts')).showDemo(call),
  }),
];
