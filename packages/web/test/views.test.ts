import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { register } from '../../hub/test/mail-ground.ts';
import { look, onPages, shows, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

const current = () => page.getByRole('navigation', { name: 'Views' }).locator('[aria-current=page]');
const at = (name: string) => current().filter({ hasText: name }).waitFor();

describe('the views', () => {
  it('are changed by keys and by links, and found again by a reload and the way back', async () => {
    for (const [key, name] of [
      ['w', 'Agents'],
      ['m', 'Mail'],
      ['b', 'Tasks'],
      ['v', 'Contracts'],
      ['p', 'Terminals'],
    ] as const) {
      await page.keyboard.press(key);
      await at(name);
    }
    await page.goBack();
    await at('Contracts');
    await page.getByRole('link', { name: 'Mail' }).click();
    await at('Mail');
    await page.reload();
    await page.locator('.connection[data-state=live]').waitFor();
    await at('Mail');
    expect(new URL(page.url()).hash).toBe('#/mail');
  });

  it('let terminals live on behind them, which take no keys and are not before anybody then', async () => {
    const id = await ground.pane('ticking', 'echo begun; exec cat');
    const shown = await look(page, 'ticking');
    await shows(shown, 'begun');
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('m');
    await at('Mail');
    await shown.waitFor({ state: 'hidden' });
    await page.keyboard.type('jx');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await ground.hub.client.call('pane:write', { paneId: id, data: 'meanwhile', enter: true });
    // Roles find only what can be seen.
    const behind = page.locator('.tile .xterm-rows').filter({ hasText: 'meanwhile' });
    await behind.waitFor({ state: 'attached' });
    const tell = (status: 'running' | 'idle') =>
      ground.hub.client.call('agent:set-state', { paneId: id, status, runtime: 'other' });
    await tell('running');
    await tell('idle');
    // It ended its turn while nobody looked.
    await page.getByRole('link', { name: 'Agents 1 need you' }).waitFor();
    await page.keyboard.press('n');
    await at('Terminals');
    await tile(page, 'ticking').waitFor();
    await page.keyboard.type('typed again');
    await shows(shown, 'typed again');
  });

  it('lead to what waits for approval from anywhere', async () => {
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const worker = await ground.pane('worker');
    await page.keyboard.press('m');
    await at('Mail');
    const asked = asker.call('pane:write', { paneId: worker, data: 'let me in', enter: true });
    await page.getByRole('button', { name: '1 to approve' }).waitFor();
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Deny' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await asked;
  });

  it('count what is new for the user, wherever one is', async () => {
    const ann = await register(ground.hub, 'ann', { project: 'counted' });
    await ann.call('mail:send', { to_agent_name: 'user', body: 'Look here.' });
    await page.getByRole('link', { name: 'Mail 1 new' }).waitFor();
    await ground.hub.client.call('mail:inbox', {});
    await page.getByRole('link', { name: 'Mail', exact: true }).waitFor();
  });
});
