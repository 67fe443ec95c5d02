import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { capture, prompt } from '../../hub/test/capture-ground.ts';
import { openWindow, recorded } from '../../hub/test/timeline-ground.ts';
import { onPages, row, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

const openFloor = async (): Promise<void> => {
  await page.keyboard.press('o');
  await page.getByRole('link', { name: 'Floor' }).and(page.locator('[aria-current=page]')).waitFor();
};
const projectGroup = (name: string): Locator => page.getByRole('group', { name });

describe('the floor', () => {
  it('teaches how to begin, and ticks each step when the hub has seen it', async () => {
    await openFloor();
    const steps = page.getByRole('region', { name: 'First steps' });
    const step = (title: string): Locator => steps.getByRole('listitem').filter({ hasText: title });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await step('Install the hooks').getByRole('button', { name: 'Copy' }).click();
    await step('Install the hooks').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('poly hooks install');
    await capture(ground.hub, prompt('elsewhere', 'hello'));
    await step('Install the hooks').getByRole('img', { name: 'done' }).waitFor();
    expect(await step('Join a project').getByRole('img', { name: 'to do' }).count()).toBe(1);

    const { session, hook } = await openWindow(ground.hub, 'first', 'beginnings');
    await page.getByText('First steps: 3 of 5 done').waitFor();
    await hook('UserPromptSubmit', { prompt: 'begin' });
    await page.getByText('First steps: 4 of 5 done').click();
    await page.getByText(`poly handoff ${session.slug}`).waitFor();
  });

  it('shows the sessions of each project as they are: who drives, what the agent does, and how much happened', async () => {
    const { client } = ground.hub;
    await client.call('project:create', { name: 'Shop', tags: ['web', 'payments'] });
    await client.call('project:create', { name: 'Shelf' });
    await openFloor();
    const { session, hook, id } = await openWindow(ground.hub, 'cashier', 'shop');
    const line = row(page, session.slug);
    await line.waitFor();
    const group = projectGroup('Shop');
    await group.getByText('payments').waitFor();
    await group.getByText('1 session, active').waitFor();
    await page.getByText(/Projects without a session: .*Shelf/).waitFor();
    await line.getByText('0 prompts').waitFor();
    await line.getByText('You drive').waitFor();
    await client.call('floor:label', { session: session.session_id, label: 'Refunds twice' });
    await line.getByText('Refunds twice').waitFor();
    await hook('UserPromptSubmit', { prompt: 'refund once' });
    await hook('Stop', { last_assistant_message: 'Done.' });
    await line.getByText('1 prompt', { exact: true }).waitFor();
    await client.call('agent:set-state', { paneId: id, status: 'blocked' });
    await client.call('pane:update-meta', { paneId: id, set: { 'agent.reason': 'permission: Bash' } });
    await line.getByText('blocked').waitFor();
    await line.getByText('permission: Bash').waitFor();
    // Counted anew while somebody looks.
    await line.getByRole('img', { name: 'Activity: 3 entries, 1 prompts' }).waitFor();
    await page.getByRole('button', { name: '14 days' }).click();
    await line.getByRole('img', { name: 'Activity: 3 entries, 1 prompts' }).waitFor();
    await client.call('project:rename', { project: 'shop', name: 'Store' });
    await projectGroup('Store').waitFor();
    const mover = await openWindow(ground.hub, 'mover', 'store');
    await ground.hub.as(mover.token).call('floor:leave', {});
    await row(page, mover.session.slug).getByText('no agent').waitFor();
  });

  it('is moved through and filtered by keys, and opens a session', async () => {
    const [one, two] = [
      await openWindow(ground.hub, 'one', 'keys'),
      await openWindow(ground.hub, 'two', 'keys'),
    ];
    await ground.hub.client.call('project:tag', { project: 'keys', add: ['ivory'] });
    await openFloor();
    await row(page, one.session.slug).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(`ivory ${two.session.slug}`);
    await row(page, one.session.slug).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('main', { name: 'Session' }).getByText(two.session.slug).waitFor();
    await page.keyboard.press('u');
    await row(page, one.session.slug).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ivory');
    await page.keyboard.press('Escape');
    await page.keyboard.press('G');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    const last = page.getByRole('option').last();
    expect(await last.getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('/');
    await page.keyboard.type('nothing like it');
    await page.getByText('No session fits.').waitFor();
  });

  it('fits on a phone', async () => {
    const { session } = await openWindow(ground.hub, 'small', 'phone');
    await ground.hub.client.call('floor:label', {
      session: session.session_id,
      label: 'unbreakable'.repeat(7),
    });
    await page.setViewportSize({ width: 390, height: 780 });
    await openFloor();
    await row(page, 'unbreakable').waitFor();
    const overflows = await page.evaluate(() =>
      [...document.querySelectorAll('.app, .floor, .floor-list')].some(
        (box) => box.scrollWidth > box.clientWidth,
      ),
    );
    expect(overflows).toBe(false);
    await recorded(ground.hub, session.session_id, 1);
  });
});
