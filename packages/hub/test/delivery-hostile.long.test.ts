import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hintOf } from '../src/delivery/hint.ts';
import { TestHub, until } from './test-hub.ts';

const programs = {
  sh: ['sh', '-i'],
  bash: ['bash', '--norc', '-i'],
  python: ['python3', '-i', '-q'],
} as const;
const each = 10_000 / Object.keys(programs).length / 2;

let hub: TestHub;
let canary: string;

beforeAll(async () => {
  hub = await TestHub.start();
  canary = join(hub.home, 'canary');
  await hub.client.call('session:start', {});
});
afterAll(() => hub[Symbol.asyncDispose]());

/** Text that would run something if a shell, Python or a terminal took it for more than text. */
function hostile(): fc.Arbitrary<string> {
  const touch = `touch ${canary}`;
  const python = `open('${canary}','w').close()`;
  const start = fc.constantFrom(
    '',
    '\n',
    '\r',
    '\r\n',
    '!',
    '/',
    ';',
    '\u001b[201~',
    '\u0003',
    '\u0004',
    '\u001b',
    '"',
    "'",
    '`',
    '$(',
    '\u0085',
    '\u2028',
    '\u009b201~',
  );
  const end = fc.constantFrom('', '\n', '\r', ';', ')', '`', '#', '\u001b[200~', '\u0000');
  return fc
    .tuple(
      start,
      fc.constantFrom(touch, python, `x=$(${touch})`, `\`${touch}\``, `${touch};`, `!${touch}`),
      end,
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    .map(([before, what, behind, noise]) => `${before}${what}${behind}${noise}`);
}

describe.each(Object.keys(programs) as (keyof typeof programs)[])(
  'hostile text for somebody in %s',
  (name) => {
    it.each(['pty', 'tmux'] as const)('in mail is never typed, on %s', async (backend) => {
      const id = `${name}-${backend}`;
      const { lines } = await open(id, backend);
      const texts = fc.sample(hostile(), each).map((text) => text.toWellFormed().replaceAll('\0', ''));
      for (let at = 0; at < texts.length; at += 50)
        await Promise.all(
          texts.slice(at, at + 50).map((text) =>
            hub.client.call('mail:send', {
              ...{ to_agent_name: id, to_project: 'demo', body: `x${text}`, need_reply: false },
              subject: [...text.replace(/[\r\n]/g, ' ')].slice(0, 100).join(''),
            }),
          ),
        );
      const { agents } = await hub.client.call('mail:agents', { project: 'demo' });
      expect(agents.find((agent) => agent.name === id)?.unread).toBe(texts.length);
      expect((await hub.client.call('pane:read', { paneId: id })).lines).toEqual(lines);
      expect(existsSync(canary)).toBe(false);
    });

    it.each(['pty', 'tmux'] as const)(
      'in names runs nothing, even where a hint were typed at it, on %s',
      async (backend) => {
        const id = `${name}-names-${backend}`;
        await open(id, backend);
        const hints = fc
          .sample(fc.tuple(hostile(), hostile()), each)
          .map(([from, to], seq) => hintOf({ key: 'k', name: to }, [{ seq, from, sentAt: seq }]).text);
        for (let at = 0; at < hints.length; at += 20)
          await hub.client.call('pane:write', {
            paneId: id,
            data: hints.slice(at, at + 20).join('\n'),
            enter: true,
          });
        // Whatever quote or bracket is left open is given up when everything has been read.
        const { next: since } = await hub.client.call('pane:wait', {
          ...{ paneId: id, idleMs: 3_000, timeoutMs: 600_000 },
        });
        await hub.client.call('pane:keys', { paneId: id, keys: ['C-c'] });
        await hub.client.call('pane:write', {
          paneId: id,
          data: name === 'python' ? "print('all'+' read')" : 'echo "all"" read"',
          enter: true,
        });
        const text = '^(>>> )?all read';
        const { reason } = await hub.client.call('pane:wait', { paneId: id, text, since, timeoutMs: 60_000 });
        expect(reason).toBe('text');
        expect(existsSync(canary)).toBe(false);
      },
    );

    async function open(id: string, backend: 'pty' | 'tmux') {
      const argv = ['sh', '-c', 'echo "$POLY_TOKEN"; exec "$@"', 'sh', ...programs[name]];
      await hub.client.call('pane:new', { id, argv, backend, env: { PS1: '$ ', PYTHON_BASIC_REPL: '1' } });
      const token = await until(
        async () => (await hub.client.call('pane:read', { paneId: id })).lines?.[0]?.text,
      );
      await hub.as(token).call('mail:register', { name: id, project: 'demo' });
      await hub.client.call('pane:wait', { paneId: id, text: '(\\$|>>>) ?$', timeoutMs: 60_000 });
      return hub.client.call('pane:read', { paneId: id });
    }
  },
  900_000,
);
