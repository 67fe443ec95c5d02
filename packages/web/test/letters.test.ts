import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../hub/test/test-hub.ts';
import { look, onPages, row, shows, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});

describe('letters', () => {
  const sizeIn = (shown: Locator): Promise<number> =>
    shown
      .locator('.xterm-rows')
      .evaluate((rows) => Number.parseFloat(getComputedStyle(rows.firstElementChild ?? rows).fontSize));

  it('are larger or smaller by button and by key, stay so over a reload, and fit again', async () => {
    await ground.pane('text', 'echo letters; exec cat', { cols: 80, rows: 24 });
    const shown = await look(page, 'text');
    await shows(shown, 'letters');
    const fitting = await sizeIn(shown);
    await shown.getByRole('button', { name: 'Larger letters' }).click();
    await until(async () => (await sizeIn(shown)) === Math.round(fitting) + 1);
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await page.keyboard.press('-');
    await until(async () => (await sizeIn(shown)) === Math.round(fitting) + 2);
    await page.reload();
    await shows(shown, 'letters');
    await until(async () => (await sizeIn(shown)) === Math.round(fitting) + 2);
    await page.getByRole('listbox').focus();
    await page.keyboard.press('0');
    await until(async () => (await sizeIn(shown)) === fitting);
    await page.reload();
    await shows(shown, 'letters');
    await until(async () => (await sizeIn(shown)) === fitting);
  });

  it('can be read on a phone, where a wide pane goes along with its cursor', async () => {
    await ground.pane('wide', 'echo wide; exec cat', { cols: 120, rows: 40 });
    await page.setViewportSize({ width: 390, height: 844 });
    await row(page, 'wide').click();
    const shown = tile(page, 'wide');
    await shows(shown, 'wide');
    await until(async () => (await sizeIn(shown)) >= 12);
    const box = shown.locator('.box');
    const scrolled = (): Promise<number> => box.evaluate(({ scrollLeft }) => scrollLeft);
    expect(await box.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
    await page.keyboard.type('x'.repeat(100));
    await until(async () => (await scrolled()) > 0);
    await page.keyboard.press('Enter');
    await until(async () => (await scrolled()) === 0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // Fit makes the pane as wide as the phone, in letters that can be read.
    await shown.getByRole('button', { name: 'Fit' }).click();
    await until(() => box.evaluate((one) => one.scrollWidth <= one.clientWidth));
    expect(await sizeIn(shown)).toBeGreaterThanOrEqual(12);
  });
});

describe('a pane that is higher than its tile', () => {
  it('goes along with what is drawn, and stays where somebody has scrolled to until they type or follow', async () => {
    // Each line that is typed draws the whole screen anew, the cursor from its first row to its last.
    const draw = 'printf "\\033[Htop %s" $x; sleep 0.1; printf "\\033[39;1Hend %s" $x';
    await ground.pane('tall', `stty -echo; x=0; ${draw}; while read x; do ${draw}; done`, {
      cols: 60,
      rows: 40,
    });
    await page.setViewportSize({ width: 1280, height: 400 });
    const shown = await look(page, 'tall');
    await shows(shown, 'end 0');
    const box = shown.locator('.box');
    const scrolled = (): Promise<number> => box.evaluate(({ scrollTop }) => scrollTop);
    await until(async () => (await scrolled()) > 0);
    await box.evaluate((one) => one.scrollTo({ top: 0 }));
    const paneId = (await row(page, 'tall').getAttribute('id'))?.replace('pane-', '') ?? '';
    for (const x of [1, 2]) {
      await ground.hub.client.call('pane:write', { paneId, data: `${x}\n` });
      await shows(shown, `end ${x}`);
      expect(await scrolled()).toBe(0);
    }
    await page.keyboard.press('Control+Shift+End');
    await until(async () => (await scrolled()) > 0);
    await box.evaluate((one) => one.scrollTo({ top: 0 }));
    await page.keyboard.type('3\n');
    await shows(shown, 'end 3');
    await until(async () => (await scrolled()) > 0);
  });
});

describe('a phone', () => {
  it('does not go along with a cursor that is hidden', async () => {
    await ground.pane('hidden', "printf 'on the left\\033[?25l\\033[110G>'; exec cat", {
      cols: 120,
      rows: 40,
    });
    await page.setViewportSize({ width: 390, height: 844 });
    const shown = await look(page, 'hidden');
    await shows(shown, />/);
    const box = shown.locator('.box');
    await until(() => box.evaluate((one) => one.scrollWidth > one.clientWidth));
    expect(await box.evaluate(({ scrollLeft }) => scrollLeft)).toBe(0);
  });

  it('does not go along with a cursor that has filled a line and waits at its end', async () => {
    await ground.pane('full', "printf 'on the left\\r\\n%0120d' 0; exec cat", { cols: 120, rows: 40 });
    await page.setViewportSize({ width: 390, height: 844 });
    const shown = await look(page, 'full');
    await shows(shown, /0{120}/);
    const box = shown.locator('.box');
    await until(() => box.evaluate((one) => one.scrollWidth > one.clientWidth));
    expect(await box.evaluate(({ scrollLeft }) => scrollLeft)).toBe(0);
  });

  it.each([390, 360])('of %i pixels has every button within reach while something waits', async (width) => {
    await page.setViewportSize({ width, height: 780 });
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const paneId = await ground.pane('worker');
    const asked = expect(asker.call('pane:write', { paneId, data: 'x' })).rejects.toThrow();
    await page.getByRole('button', { name: '1 to approve' }).waitFor();
    await ground.hub.client.call('agent:set-state', { paneId, status: 'blocked' });
    await page.getByRole('button', { name: '1 needs you' }).waitFor();
    const bar = page.locator('.bar');
    for (const button of await bar.getByRole('button').all()) {
      const { x, width: wide } = (await button.boundingBox()) ?? { x: width, width: 0 };
      expect(x + wide).toBeLessThanOrEqual(width);
    }
    expect(await bar.evaluate((one) => one.scrollWidth)).toBe(width);
    const rows = await bar
      .getByRole('button')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom)));
    expect(new Set(rows).size).toBe(1);
    await page.getByRole('button', { name: 'Deny' }).click();
    await asked;
  });

  it.each([390, 360])('of %i pixels shows the whole name of a pane, and every tool of it', async (width) => {
    const name = 'the dev server of the shop';
    await ground.pane(name);
    await page.setViewportSize({ width, height: 780 });
    const shown = await look(page, name);
    expect(await shown.locator('h2').evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    for (const tool of await shown.locator('.tools').getByRole('button').all()) {
      const { x, width: wide } = (await tool.boundingBox()) ?? { x: width, width: 0 };
      expect(x + wide).toBeLessThanOrEqual(width);
    }
    // In two rows: the terminal has the rest.
    expect((await shown.locator('header').boundingBox())?.height).toBeLessThan(80);
  });

  it('says beside an open pane what waits elsewhere, and that the hub is away', async () => {
    const paneId = await ground.pane('in hand', 'echo here; exec cat');
    await page.setViewportSize({ width: 390, height: 844 });
    const shown = await look(page, 'in hand');
    await shows(shown, 'here');
    await page.locator('.bar').waitFor({ state: 'hidden' });
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const asked = expect(asker.call('pane:write', { paneId, data: 'x' })).rejects.toThrow();
    await page.getByRole('button', { name: '1 to approve' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await asked;
    await row(page, 'in hand').click();
    await page.locator('.bar').waitFor({ state: 'hidden' });
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await ground.hub.start();
    await page.locator('.bar').waitFor({ state: 'hidden' });
    await shows(shown, 'here');
  });

  it('brings the view that is shown into sight among the others', async () => {
    await page.setViewportSize({ width: 300, height: 780 });
    await page.keyboard.press('v');
    const link = page.getByRole('link', { name: 'Contracts' });
    await link.and(page.locator('[aria-current=page]')).waitFor();
    const { x = 300, width = 0 } = (await link.boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(300);
  });

  it('shows the list or one pane, without scrolling sideways', async () => {
    await ground.pane('pocket', 'stty raw -echo; echo ready; od -An -tx1 -v -w1');
    await page.setViewportSize({ width: 390, height: 844 });
    const shown = tile(page, 'pocket');
    await row(page, 'pocket').click();
    await shows(shown, 'ready');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await shown.getByRole('button', { name: 'Esc' }).click();
    await shown.getByRole('button', { name: 'Up', exact: true }).click();
    await shows(shown, /1b\s*1b\s*5b\s*41/);
    await shown.getByRole('button', { name: 'Back to the list' }).click();
    await row(page, 'pocket').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
