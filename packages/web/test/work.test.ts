import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { register } from '../../hub/test/mail-ground.ts';
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

const column = (title: string): Locator => page.getByRole('region', { name: title, exact: true });
const card = (title: string, text: string): Locator =>
  column(title).getByRole('listitem').filter({ hasText: text });
const order = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

describe('tasks', () => {
  it('teach how to begin, and move over the board as they are done', async () => {
    await page.keyboard.press('b');
    await column('No tasks yet').getByText('poly task add').waitFor();
    const ada = await register(ground.hub, 'ada', { project: 'board' });
    const add = async (title: string, more: object = {}) =>
      (await ada.call('task:add', { title, ...more })).task_id;
    const first = await add('Write the <b>parser</b>\u202e', { description: 'all\nof it' });
    await add('Use the parser', { depends_on: [first] });
    await card('Ready', 'Write the <b>parser</b>\\u202e').waitFor();
    await card('Waiting', 'Use the parser').getByText('waits for Write the <b>parser</b>\\u202e').waitFor();
    const { fence } = await ada.call('task:claim', { task_id: first, lease_s: 3600 });
    const claimed = card('Claimed', 'Write the');
    await claimed.getByText('ada', { exact: true }).waitFor();
    await claimed.getByText(/^(1h|59m) left$/).waitFor();
    await page.keyboard.press('G');
    await page.keyboard.press('Enter');
    await claimed.getByText('all\nof it').waitFor();
    await ada.call('task:complete', { task_id: first, fence, result: { lines: 12 } });
    await card('Done', 'Write the').waitFor();
    await card('Ready', 'Use the parser').waitFor();
    expect(await page.locator('.board b').count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 780 });
    // The board begins below the bar.
    expect((await column('Ready').boundingBox())?.y).toBeLessThan(120);
    await card('Done', 'Write the').scrollIntoViewIfNeeded();
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth),
    ).toBe(false);
  });

  it('of several projects have a choice above the board, which keeps its height', async () => {
    for (const project of ['one', 'two'])
      await ground.hub.client.call('task:add', { title: `Task of ${project}`, project });
    await page.keyboard.press('b');
    await card('Ready', 'Task of two').waitFor();
    const choice = await page.getByLabel('Project').boundingBox();
    const board = await column('Ready').boundingBox();
    expect(board?.y).toBeLessThan((choice?.y ?? 0) + 80);
    expect(board?.height).toBeGreaterThan(400);
    await page.getByLabel('Project').selectOption('one');
    await card('Ready', 'Task of two').waitFor({ state: 'detached' });
  });

  it('turn stale with the contract they are built on, until that is acknowledged', async () => {
    const bob = await register(ground.hub, 'bob', { project: 'stale' });
    const name = 'order';
    await bob.call('contract:register', { name, schema: order('id', 'at') });
    const { task_id } = await bob.call('task:add', { title: 'Show orders', contracts: [{ name }] });
    await bob.call('task:claim', { task_id });
    await page.keyboard.press('b');
    await card('Claimed', 'Show orders').waitFor();
    await ground.hub.client.call('contract:register', { project: 'stale', name, schema: order('id') });
    await card('Stale', 'Show orders').getByText('order is at version 2, built on 1').waitFor();
    await bob.call('contract:ack', { name });
    await card('Claimed', 'Show orders').waitFor();
  });
});

describe('contracts', () => {
  it('show versions, what breaks between two, and who has acknowledged', async () => {
    await page.keyboard.press('v');
    const [cat, dan] = [
      await register(ground.hub, 'cat', { project: 'agreed' }),
      await register(ground.hub, 'dan', { project: 'agreed' }),
    ];
    const name = 'shop/order';
    await cat.call('contract:register', { name, schema: order('id', 'at') });
    await dan.call('contract:subscribe', { name });
    await row(page, name).getByText('version 1').waitFor();
    await row(page, name).click();
    const shown = page.getByRole('article', { name: `Contract ${name}` });
    await shown.getByText('knows the latest').waitFor();
    await cat.call('contract:register', { name, schema: order('id', 'at', '<i>by</i>'), note: 'who' });
    await shown.getByText('1 change, and nothing breaks.').waitFor();
    await cat.call('contract:register', { name, schema: order('id', '<i>by</i>') });
    await shown.getByText('1 change that breaks something.').waitFor();
    await shown.getByText('has not acknowledged version 2, 3').waitFor();
    await shown.getByLabel('From version').selectOption('1');
    const changes = shown.getByLabel('Changes').getByRole('listitem');
    await changes.nth(1).waitFor();
    expect(await changes.evaluateAll((all) => all.map((one) => one.dataset.breaking))).toEqual([
      'true',
      'false',
    ]);
    await changes.first().getByText('/properties/at').waitFor();
    expect(await shown.locator('i').count()).toBe(0);
    await dan.call('contract:ack', { name });
    await shown.getByText('knows the latest').waitFor();
    await page.reload();
    await shown.getByText('1 change that breaks something.').waitFor();
  });

  it('of a file are versions of what it says, and its troubles are told', async () => {
    const path = join(ground.hub.home, 'order.json');
    writeFileSync(path, JSON.stringify(order('id')));
    await ground.hub.client.call('contract:watch', { path, name: 'of-a-file', project: 'files' });
    await page.keyboard.press('v');
    await row(page, 'of-a-file').getByText(path).waitFor();
    writeFileSync(path, JSON.stringify(order('id', 'at')));
    await row(page, 'of-a-file').getByText('version 2').waitFor();
    writeFileSync(path, '{');
    await row(page, 'of-a-file').locator('.reason').waitFor();
  });
});
