import { readFileSync, writeFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import { expand } from './format.ts';
import { listRows } from './list.ts';
import type { MemoryServer, PasteBuffer } from './server.ts';

function wanted(server: MemoryServer, args: Arguments): PasteBuffer {
  const name = args.get('b');
  const buffer = server.buffer(name);
  if (!buffer) throw new CommandFailure(name === undefined ? 'no buffers' : `no buffer ${name}`);
  return buffer;
}

/** Files are the machine's own, as they are tmux's: only the server is imagined. */
function onFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    const said = getSystemErrorMessage(errno);
    throw new CommandFailure(`${path}: ${said.charAt(0).toUpperCase()}${said.slice(1)}`);
  }
}

function pathOf(server: MemoryServer, args: Arguments): string {
  return expand(args.words[0] ?? '', { server });
}

function setBuffer(server: MemoryServer, args: Arguments): undefined {
  const name = args.get('b');
  const renamed = args.get('n');
  if (renamed !== undefined) {
    const buffer = wanted(server, args);
    server.deleteBuffer(buffer);
    server.setBuffer(renamed, buffer.data);
    return;
  }
  const data = args.words[0];
  if (data === undefined) throw new CommandFailure('no data specified');
  const before = args.has('a') ? server.buffer(name) : undefined;
  server.setBuffer(before?.name ?? name, (before?.data ?? '') + data);
}

export const bufferCommands: CommandTable = {
  'set-buffer': { flags: 'ab:t:n:w', words: [0, 1], run: setBuffer },
  'show-buffer': { flags: 'b:', run: (server, args) => wanted(server, args).data },
  'delete-buffer': {
    flags: 'b:',
    run: (server, args) => {
      const name = args.get('b');
      const buffer = server.buffer(name);
      if (!buffer) throw new CommandFailure(name === undefined ? 'no buffer' : `unknown buffer: ${name}`);
      server.deleteBuffer(buffer);
      return undefined;
    },
  },
  'list-buffers': {
    flags: 'F:f:O:r',
    run: (server, args) =>
      listRows(
        args,
        '#{buffer_name}: #{buffer_size} bytes: "#{buffer_sample}"',
        server.buffers.map((buffer) => ({ server, buffer })),
      ),
  },
  'load-buffer': {
    flags: 'b:t:w',
    words: [1, 1],
    run: (server, args) => {
      const path = pathOf(server, args);
      const data = path === '-' ? '' : onFile(path, () => readFileSync(path, 'utf8'));
      server.setBuffer(args.get('b'), data);
      return undefined;
    },
  },
  'save-buffer': {
    flags: 'ab:',
    words: [1, 1],
    run: (server, args) => {
      const { data } = wanted(server, args);
      const path = pathOf(server, args);
      if (path === '-') return data;
      onFile(path, () => writeFileSync(path, data, { flag: args.has('a') ? 'a' : 'w' }));
      return undefined;
    },
  },
};
