import { CommandFailure, type CommandTable, type MemoryCommand } from './command.ts';
import { find } from './target.ts';

/** Nobody is ever attached to a server in memory. */
const nobody = (flags: string, flag = 't', words: readonly [number, number] = [0, 0]): MemoryCommand => ({
  flags,
  words,
  run: (_, args) => {
    const client = args.get(flag);
    throw new CommandFailure(client === undefined ? 'no current client' : `can't find client: ${client}`);
  },
});

export const clientCommands: CommandTable = {
  'list-clients': {
    flags: 'F:f:O:rt:',
    run: (server, args) => {
      if (args.has('t')) find(server, 'session', args.get('t'));
      return '';
    },
  },
  'detach-client': {
    flags: 'aE:s:t:P',
    run: (server, args) => {
      if (!args.has('s')) return nobody('').run(server, args);
      find(server, 'session', args.get('s'));
      return undefined;
    },
  },
  'refresh-client': nobody('A:B:cC:Df:r:F:l::LRSt:U', 't', [0, 1]),
  'suspend-client': nobody('t:'),
  'lock-client': nobody('t:'),
  'switch-client': nobody('c:EFlnO:pt:rT:Z', 'c'),
  'attach-session': {
    flags: 'c:dEf:rt:x',
    run: (server, args) => {
      find(server, 'pane', args.get('t'));
      throw new CommandFailure('open terminal failed: not a terminal');
    },
  },
};
