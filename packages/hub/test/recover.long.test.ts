import { appendFileSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ClaudeTranscript, recover } from './recover-ground.ts';
import { TestHub } from './test-hub.ts';
import { leaveHook, openWindow, recorded } from './timeline-ground.ts';

const turns = 6_000;
const stdout = 'x'.repeat(16_000);

const residentMb = (hub: TestHub): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.discovery.pid}/status`, 'utf8'))?.[1]) / 1024;

it('fills in a hundred megabytes that no hook told while others are answered, takes little memory, and finds nothing more', async () => {
  await using hub = await TestHub.start();
  const window = await openWindow(hub, 'giant', 'lots');
  const { session_id } = window.session;
  const from = Date.now() - 3_600_000;
  const db = new Database(join(hub.dir, 'hub.db'));
  db.prepare('UPDATE floor_bindings SET from_at = ? WHERE session = ?').run(from - 1_000, session_id);
  db.close();
  leaveHook(hub, window, '0000000000-x', {
    ...{
      session_id: 'conversation-big',
      hook_event_name: 'UserPromptSubmit',
      prompt: 'prompt 0',
      prompt_id: 'p0',
    },
  });
  await recorded(hub, session_id, 2);
  const kept = new ClaudeTranscript(hub, 'conversation-big');
  let lines: string[] = [];
  const around = { sessionId: 'conversation-big', cwd: '/work', isSidechain: false, userType: 'external' };
  const line = (type: string, at: number, message: object, more: object): void => {
    const uuid = `00000000-0000-4000-8000-${String(lines.length + at).padStart(12, '0')}`;
    lines.push(
      JSON.stringify({ ...around, uuid, type, timestamp: new Date(at).toISOString(), message, ...more }),
    );
  };
  for (let turn = 0; turn < turns; turn++) {
    const at = from + turn * 100;
    const promptId = `p${turn}`;
    const tool = { type: 'tool_use', id: `t${turn}`, name: 'Bash', input: { command: `echo ${turn}` } };
    line('user', at, { role: 'user', content: `prompt ${turn}` }, { promptId });
    line('assistant', at + 1, { role: 'assistant', content: [tool], stop_reason: 'tool_use' }, {});
    const result = { type: 'tool_result', tool_use_id: `t${turn}`, content: stdout };
    line('user', at + 2, { role: 'user', content: [result] }, { toolUseResult: { stdout, stderr: '' } });
    const text = [{ type: 'text', text: `answer ${turn}` }];
    line('assistant', at + 3, { role: 'assistant', content: text, stop_reason: 'end_turn' }, { promptId });
    if (lines.length > 1_000) {
      appendFileSync(kept.path, `${lines.join('\n')}\n`);
      lines = [];
    }
  }
  appendFileSync(kept.path, `${lines.join('\n')}\n`);
  utimesSync(kept.path, from / 1000, from / 1000);
  expect(statSync(kept.path).size).toBeGreaterThan(100 * 1024 * 1024);

  const before = residentMb(hub);
  let [isOn, slowest, most] = [true, 0, 0];
  const asking = (async () => {
    while (isOn) {
      const asked = performance.now();
      await hub.client.call('floor:status', {});
      slowest = Math.max(slowest, performance.now() - asked);
      most = Math.max(most, residentMb(hub));
      await setTimeout(20);
    }
  })();
  const { restored } = await recover(hub, { session: session_id });
  isOn = false;
  await asking;
  expect(restored).toBe(4 * turns - 1);
  expect((await recover(hub, { session: session_id })).restored).toBe(0);
  expect(most - before).toBeLessThan(400);
  expect(slowest).toBeLessThan(5_000);
});
