import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { register } from '../../hub/test/mail-ground.ts';
import { spendDay } from './floor-day.ts';
import { look, onGround, shows, tile, type WebGround } from './web-ground.ts';

/** The pictures of the documentation are renewed only when somebody asks for it: each run would draw others. */
const documented =
  process.env.POLY_SCREENSHOTS && join(import.meta.dirname, '..', '..', '..', 'docs', 'images');

/** What a day of work looks like: programs of these names that print this, and wait. */
const panes: readonly (readonly [title: string, argv: readonly string[], script: string])[] = [
  [
    'api tests',
    ['npm', 'test', '--', '--watch'],
    String.raw`printf '\033[1m RUN \033[0m v5.1.0 ~/shop/api\n\n'
for f in cart checkout prices stock users; do printf ' \033[32m✓\033[0m test/%s.test.ts \033[2m(%d tests)\033[0m \033[33m%d\033[2mms\033[0m\n' $f $(( $(printf %s $f | wc -c) * 3 )) $(( $(printf %s $f | wc -c) * 87 )); done
printf ' \033[31m❯\033[0m test/refunds.test.ts \033[2m(9 tests | \033[31m1 failed\033[0;2m)\033[0m\n   \033[31m×\033[0m refunds a partial order once\n\n'
printf '\033[31mAssertionError:\033[0m expected \033[32m1\033[0m refund, got \033[31m2\033[0m\n \033[36m❯\033[0m test/refunds.test.ts:\033[2m41:27\033[0m\n   \033[2m39|\033[0m   await order.refund({ items: [shirt] });\n   \033[2m40|\033[0m   await order.refund({ items: [shirt] });\n   \033[2m41|\033[0m   \033[35mexpect\033[0m(await order.refunds()).toHaveLength(\033[33m1\033[0m);\n\n'
printf ' Test Files  \033[31m1 failed\033[0m | \033[32m5 passed\033[0m\n      Tests  \033[31m1 failed\033[0m | \033[32m104 passed\033[0m\n   Duration  4.81s\n\n\033[32m PASS \033[0m Waiting for file changes...\n'
exec cat`,
  ],
  [
    'review agent',
    ['claude', '--model', 'sonnet'],
    String.raw`printf '\033[1;35m●\033[0m Read \033[1msrc/refunds.ts\033[0m \033[2m(88 lines)\033[0m\n\033[1;35m●\033[0m The second call finds the order still open, because the\n  status is written after the payment answers.\n\n\033[1;35m●\033[0m Edit \033[1msrc/refunds.ts\033[0m\n'
printf '    \033[2m21\033[0m   const open = await orders.get(id);\n    \033[31m22 - if (open.refunded) return open;\033[0m\n    \033[32m22 + await using lock = await orders.lock(id);\033[0m\n    \033[32m23 + if (lock.order.refunded) return lock.order;\033[0m\n\n'
printf '\033[33m▲ Run \033[1mnpm test -- refunds\033[0;33m ?\033[0m\n  \033[36m❯ 1. Yes\033[0m\n    2. Yes, and do not ask again\n    3. No\n'
exec cat`,
  ],
  [
    'web server',
    ['npm', 'run', 'dev'],
    String.raw`i=0; for p in / /cart /api/prices /api/stock?sku=1042 /assets/app.css /checkout /api/orders /api/orders/8841 / /cart /api/prices /health /api/refunds /checkout /assets/app.js /api/stock?sku=88 /api/users/me /; do i=$((i+7)); c=32; s=200; case $p in */refunds) c=31 s=500;; */orders) c=36 s=201;; esac; printf '\033[2m14:%02d:%02d\033[0m \033[%sm%s\033[0m %-24s \033[2m%2d ms\033[0m\n' $((i/60+20)) $((i%60)) $c $s "$p" $((i%23+1)); done; exec cat`,
  ],
  [
    'shop shell',
    ['bash', '-l'],
    String.raw`printf '\033[1;34m~/shop\033[0m \033[32mmain\033[0m $ git log --oneline -8\n'
printf '\033[33m%s\033[0m %s\n' 9f3c1a2 'refunds: answer what was refunded' 51be0d7 'stock: count what is reserved' c02aa94 'checkout: keep the cart when a card is refused' e7d1f08 'prices: round once, at the end' 8a4402b 'users: forget an address on request' 17c9be3 'api: say why a body is refused' 3bd5510 'cart: merge carts at sign-in' 0c11f6e 'build: pin the runtime'
printf '\033[1;34m~/shop\033[0m \033[32mmain\033[0m $ '; exec cat`,
  ],
  ['nightly backup', ['restic', 'backup', '/srv/shop'], 'echo done; exit 0'],
  ['deploy staging', ['fly', 'deploy', '--app', 'staging'], 'echo "connection refused"; exit 1'],
];

/** What agents and their user have written to each other by then. */
async function correspond({ hub }: WebGround): Promise<void> {
  const project = 'shop';
  const ada = await register(hub, 'ada', { project, role: 'api', model: 'sonnet', client: 'claude-code' });
  const bruno = await register(hub, 'bruno', { project, role: 'web', client: 'codex' });
  const chi = await register(hub, 'chi', { project, role: 'tests', client: 'opencode' });
  const dora = await register(hub, 'dora', { project, role: 'tests', client: 'gemini' });
  await chi.call('mail:send', {
    to_agent_name: 'ada',
    subject: 'Flaky: checkout keeps the cart',
    body: 'Fails once in forty runs, always after the price cache was cleared.',
  });
  await ada.read();
  await bruno.call('mail:send', {
    to_agent_name: 'user',
    subject: 'Which date format for receipts?',
    body: 'The design says 16.11.2026, the API answers 2026-11-16. I keep the API’s until you say otherwise.',
  });
  await hub.client.call('mail:broadcast', {
    project,
    subject: 'Freeze at 18:00',
    body: 'Nothing is merged after six; finish what you hold or release it.',
    importance: 'high',
  });
  for (const agent of [ada, bruno]) await agent.read();
  const asked = await ada.call('mail:send', {
    to_agent_name: 'bruno',
    subject: 'POST /refunds answers 409 now',
    body: 'A second refund of the same items is refused instead of paid twice:\n\n    409  { "error": "already_refunded", "refund": "rf_8841" }\n\nYour checkout shows a generic error for that. Can it show the refund that exists?',
  });
  await bruno.read();
  const answered = await bruno.call('mail:send', {
    to_agent_name: 'ada',
    reply_to: asked.message_id,
    body: 'It can. I link to /orders/:id#refund. Is "refund" always there, also for refunds made by support?',
  });
  await ada.read();
  const last = await ada.call('mail:send', {
    to_agent_name: 'bruno',
    reply_to: answered.message_id,
    body: 'Always. Support’s have "by": "support" beside it.',
  });
  await hub.client.call('mail:send-by-id', {
    to_agent_id: bruno.id,
    reply_to: last.message_id,
    body: 'Show who made it, please: customers ask for that.',
  });
  await dora.call('mail:agents', {});
}

describe('a day of work in a picture', () => {
  let ground: WebGround;
  let folder: string;
  onGround((started) => {
    ground = started;
  });
  beforeAll(async () => {
    for (const [index, [title, argv, script]] of panes.entries()) {
      const bin = join(ground.hub.home, `bin${index}`);
      mkdirSync(bin);
      writeFileSync(join(bin, argv[0] ?? ''), `#!/bin/sh\n${script}`, { mode: 0o755 });
      const env = { PATH: `${bin}:${process.env.PATH}` };
      const params = { argv, title, env, cols: 84, rows: 24, backend: 'pty' } as const;
      await ground.hub.client.call('pane:new', params);
    }
    const agent = (await ground.hub.client.call('pane:list', {})).find(
      ({ title }) => title === 'review agent',
    );
    const paneId = agent?.id ?? '';
    await ground.hub.client.call('agent:set-state', { paneId, status: 'blocked' });
    const set = { 'agent.reason': 'permission: Bash npm test -- refunds' };
    await ground.hub.client.call('pane:update-meta', { paneId, set });
    folder = documented || ground.hub.home;
    mkdirSync(folder, { recursive: true });
  });

  const take = async (page: Page, name: string): Promise<void> => {
    await page.getByText('1 line').first().waitFor({ state: 'attached' });
    const picture = await page.screenshot({ path: join(folder, `${name}.png`) });
    // One of an empty page has a few thousand bytes.
    expect(picture.length).toBeGreaterThan(50_000);
    await page.context().close();
  };

  it('in the dark, with four tiles', async () => {
    const page = await ground.open({ colorScheme: 'dark', viewport: { width: 1440, height: 860 } });
    await page.keyboard.press('4');
    for (const [title] of panes.slice(0, 4)) await look(page, title);
    await shows(tile(page, 'shop shell'), 'pin the runtime');
    await take(page, 'web-dark');
  });

  it('in the light, with one', async () => {
    const page = await ground.open({ colorScheme: 'light', viewport: { width: 1100, height: 620 } });
    await look(page, 'api tests');
    await take(page, 'web-light');
  });

  it('in the mail, in the dark', async () => {
    await correspond(ground);
    const page = await ground.open({ colorScheme: 'dark', viewport: { width: 1280, height: 800 } });
    await page.keyboard.press('m');
    await page.getByRole('option').filter({ hasText: 'POST /refunds' }).click();
    await page.getByText('Show who made it, please').last().waitFor();
    await page.locator('#rows').focus();
    await take(page, 'web-mail-dark');
  });

  it('on the floor and in a session, in the dark', async () => {
    await spendDay(ground.hub);
    const page = await ground.open({ colorScheme: 'dark', viewport: { width: 1280, height: 500 } });
    await page.keyboard.press('o');
    await page.getByRole('option').filter({ hasText: 'Refunds are paid twice' }).waitFor();
    await page
      .getByRole('img', { name: /^Activity: [1-9]/ })
      .nth(4)
      .waitFor();
    const floor = await page.screenshot({ path: join(folder, 'web-floor-dark.png') });
    expect(floor.length).toBeGreaterThan(30_000);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Enter');
    await page.getByText('Does support’s own refund page').waitFor();
    await page.locator('aside [data-live=true]').waitFor();
    await take(page, 'web-session-dark');
  }, 60_000);

  it.each(['dark', 'light'] as const)('on a phone, %s', async (colorScheme) => {
    const viewport = { width: 390, height: 780 };
    const page = await ground.open({ colorScheme, viewport, deviceScaleFactor: 2, hasTouch: true });
    await look(page, 'api tests');
    await shows(tile(page, 'api tests'), 'AssertionError');
    await take(page, `web-phone-${colorScheme}`);
  });
});
