import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { register } from '../../hub/test/mail-ground.ts';
import { until } from '../../hub/test/test-hub.ts';
import { hold, onPages, row, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

describe('the agents', () => {
  it('teach how to begin where there is none', async () => {
    await page.keyboard.press('w');
    await page.getByRole('region', { name: 'No agents yet' }).getByText('poly agent create').waitFor();
  });

  it('say what each is doing, why, where, for which project and role, and what it has not read', async () => {
    await page.keyboard.press('w');
    const client = ground.hub.as(await ground.hub.paneToken('reviewer-pane'));
    const { agent_id } = await client.call('mail:register', {
      name: 'reviewer',
      project: 'shop',
      role: 'review',
      model: 'sonnet',
    });
    const line = row(page, 'reviewer');
    await line.getByText('shop').waitFor();
    await line.getByText('reviewer-pane').waitFor();
    const paneId = 'reviewer-pane';
    await ground.hub.client.call('agent:set-state', { paneId, status: 'blocked', runtime: 'other' });
    const set = { 'agent.reason': 'permission: Bash rm -rf \u202ebuild' };
    await ground.hub.client.call('pane:update-meta', { paneId, set });
    await line.getByText(/^blocked \d+s$/).waitFor();
    await line.getByText('permission: Bash rm -rf \\u202ebuild').waitFor();
    await ground.hub.client.call('mail:send-by-id', { to_agent_id: agent_id, body: 'Well?' });
    await line.getByText('1 unread').waitFor();
    await client.call('mail:inbox', {});
    await line.getByText('1 unread').waitFor({ state: 'detached' });

    await page.keyboard.press('Enter');
    const facts = page.getByRole('article', { name: 'Agent reviewer' });
    for (const text of ['shop', 'sonnet', 'alive', `agent:reviewer (${agent_id})`])
      await facts.getByText(text, { exact: true }).waitFor();
    await facts.getByRole('button', { name: 'Open its terminal' }).click();
    await tile(page, 'reviewer-pane').waitFor();
    await page.goBack();
    await facts.waitFor();
    await ground.hub.client.call('pane:close', { paneId, cleanup: false });
    await facts.getByText('gone', { exact: true }).waitFor();
  });

  it('are all of whom something is told, whoever they are', async () => {
    const paneId = await ground.pane('somebody');
    await ground.hub.client.call('agent:set-state', { paneId, status: 'blocked' });
    await page.keyboard.press('w');
    await page.getByRole('link', { name: 'Agents 1 need you' }).waitFor();
    await row(page, paneId)
      .getByText(/^blocked \d+s$/)
      .waitFor();
  });

  it('are written to by c, also before it is known who else could be', async () => {
    await register(ground.hub, 'listener', { project: 'letters' });
    await page.keyboard.press('w');
    await row(page, 'listener').click();
    const { asked, go } = await hold(page, 'mail:agents');
    await page.keyboard.press('c');
    await until(() => asked() > 0);
    const dialog = page.getByRole('dialog', { name: 'Write' });
    await dialog.getByLabel('Message').fill('From the list of agents.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'Thread' }).getByText('From the list of agents.').waitFor();
    go();
    await page.getByLabel('Receipts').getByText('listener').waitFor();
  });
});
