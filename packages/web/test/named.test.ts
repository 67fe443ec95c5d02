import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../hub/test/test-hub.ts';
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

const openPeople = async (on: Page = page): Promise<void> => {
  await on.keyboard.press('o');
  await on.getByRole('link', { name: 'People and agents' }).click();
  await on.getByRole('main', { name: 'People and agents' }).waitFor();
};
const dialog = (): Locator => page.getByRole('dialog');

/** What the hub ran of an agent is gone. */
const ended = (name: string) =>
  until(async () => {
    const panes = await ground.hub.client.call('pane:list', {});
    return !panes.some(({ title }) => title.startsWith(`${name} in `));
  });

/** A picture for whoever wants to look: POLY_LOOK names the folder. */
async function look(on: Page, name: string): Promise<void> {
  const folder = process.env.POLY_LOOK;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await on.emulateMedia({ colorScheme });
    await on.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}

describe('the registry of named agents', () => {
  it('adds an agent, changes it, moves it into projects, keeps a secret, and removes it', async () => {
    const { client } = ground.hub;
    await client.call('project:create', { name: 'Shop', tags: ['data'] });
    await client.call('project:create', { name: 'Depot' });
    await openPeople();
    await page.getByRole('button', { name: 'Add an agent' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('dean');
    await dialog().getByLabel('Shown as').fill('Dean');
    await dialog().getByLabel('Icon').fill('🦉');
    await dialog().getByLabel('What it is for').fill('Knows databases.');
    await dialog().getByLabel('Skills').fill('sql, postgres');
    await dialog().getByLabel('Joins projects tagged').fill('data');
    await dialog().getByLabel('Run by').selectOption('hub');
    await dialog().getByRole('button', { name: 'Add', exact: true }).click();
    await dialog().getByText('without a command').waitFor();
    await dialog().getByRole('textbox', { name: 'Command' }).fill('cat');
    await dialog().getByLabel('Messages a minute').fill('12');
    await dialog().getByRole('button', { name: 'Add', exact: true }).click();
    await dialog().getByRole('heading', { name: 'Agent dean' }).waitFor();
    await dialog().getByRole('button', { name: 'Shop/dean-shop' }).waitFor();
    await dialog().getByText('running, by a tag').waitFor();
    await dialog().getByLabel('Project to invite it to').selectOption('Depot');
    await dialog().getByRole('button', { name: 'Invite' }).click();
    await dialog().getByRole('button', { name: 'Dismiss from Depot' }).waitFor();
    await dialog().getByLabel('Variable').fill('DB_TOKEN');
    await dialog().getByLabel('Value').fill('open sesame');
    await dialog().getByRole('button', { name: 'Keep' }).click();
    await dialog().getByText('kept, and shown nowhere').waitFor();
    expect(await page.content()).not.toContain('sesame');
    await look(page, 'dialog');
    await dialog().getByRole('button', { name: 'Delete DB_TOKEN' }).click();
    await dialog().getByText('kept, and shown nowhere').waitFor({ state: 'detached' });
    await dialog().getByRole('button', { name: 'Dismiss from Depot' }).click();
    await dialog().getByRole('button', { name: 'Dismiss from Depot' }).waitFor({ state: 'detached' });
    await dialog().getByLabel('Isolated').check();
    await dialog().getByLabel('Icon').fill('');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    const line = row(page, 'agent:dean');
    await line.getByText('isolated').waitFor();
    await line.getByText('postgres').waitFor();
    await line.getByText('12/min').waitFor();
    expect(await client.call('floor:agent', { name: 'dean' })).toMatchObject({
      ...{
        display_name: 'Dean',
        description: 'Knows databases.',
        command: ['cat'],
        isolated: true,
        budget: 12,
      },
    });
    await line.click();
    await dialog().getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog().getByRole('button', { name: 'Really remove it' }).click();
    // Its sessions are there, and it is an agent like others.
    const named = page.getByRole('group', { name: 'Named agents' });
    await named.getByText('agent:dean').waitFor({ state: 'detached' });
    await ended('dean');
  }, 180_000);

  it('shows sub-agents as the one above them, and an invited person can look and change nothing', async () => {
    const { client } = ground.hub;
    await client.call('floor:agent-add', { name: 'mira', display_name: 'Mira', icon: '🐍' });
    await client.call('floor:agent-add', { name: 'mira.types', display_name: 'Types' });
    await client.call('mail:register', { name: 'mira.types', project: 'den' });
    await openPeople();
    await row(page, 'agent:mira.types').getByText('shown as Mira').waitFor();
    const { session_id } = await client.call('floor:open', { project: 'den', name: 'cave' });
    await client.call('floor:annotate', { session: session_id, kind: 'decision', value: 'no snakes' });
    const guest = await ground.openAs('gwen');
    await openPeople(guest);
    await row(guest, 'agent:mira.types').waitFor();
    expect(await guest.getByRole('button', { name: 'Add an agent' }).count()).toBe(0);
    await row(guest, 'agent:mira.types').click();
    expect(await guest.getByRole('dialog').count()).toBe(0);
    await guest.context().close();
    for (const name of ['mira.types', 'mira']) await client.call('floor:agent-remove', { name });
  }, 180_000);

  it('is text and nothing else, whatever stands in any field, and fits on a phone', async () => {
    const { client } = ground.hub;
    const evil = '<img src=x onerror=alert(1)><b>b</b>';
    const long = 'unbreakable'.repeat(5);
    await client.call('floor:agent-add', {
      ...{
        name: 'evil',
        display_name: `${evil} ${long.slice(0, 30)}`,
        icon: 'Ω',
        description: `${evil} ${long} &lt;b&gt;`,
      },
      ...{ skills: [evil, long.slice(0, 60), '"><script>alert(1)</script>'], hosting: 'hub' },
      ...{ command: ['sh', '-c', `echo '${evil}'; exit 3`], watch: { kinds: ['failure'], words: [evil] } },
    });
    await client.call('floor:agent-invite', { name: 'evil', project: `p${long}` });
    await openPeople();
    const line = row(page, 'agent:evil');
    await line.getByText(/starts again in|starting/).waitFor();
    await look(page, 'list');
    await line.click();
    await dialog().getByRole('heading', { name: 'Agent evil' }).waitFor();
    expect(await dialog().getByRole('textbox', { name: 'Command' }).inputValue()).toContain('<img src=x');
    const inert = async (): Promise<void> => {
      expect(await page.locator('main :is(img, b, script), dialog :is(img, b, script)').count()).toBe(0);
    };
    await inert();
    await page.setViewportSize({ width: 390, height: 780 });
    await look(page, 'phone-dialog');
    const wide = (boxes: string): Promise<boolean> =>
      page.evaluate(
        (chosen) =>
          [...document.querySelectorAll(chosen)].some((box) => box.scrollWidth > box.clientWidth + 1),
        boxes,
      );
    expect(await wide('dialog')).toBe(false);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await look(page, 'phone-list');
    expect(await wide('.app, .floor, .floor-list')).toBe(false);
    await inert();
    await client.call('floor:agent-remove', { name: 'evil' });
    await ended('evil');
  }, 180_000);
});
