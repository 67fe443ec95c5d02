import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hold, look, onPages, shows, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});

describe('a search', () => {
  it('finds lines and shows what stands around them', async () => {
    await ground.pane('log', 'seq 1 100; echo Done 42; exec cat');
    const shown = await look(page, 'log');
    await shows(shown, 'Done 42');
    await page.keyboard.press('Control+Shift+F');
    await page.keyboard.type('done');
    await page.keyboard.press('Enter');
    await shown.getByText('1 line', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('42');
    await page.keyboard.press('Enter');
    await shown.getByText('2 lines', { exact: true }).waitFor();
    await shown.getByRole('button', { name: '42 42', exact: true }).click();
    await shown.locator('.context').getByText('48  48').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('typed again');
    await shows(shown, 'typed again');
  });

  it('takes signs as they stand, and says so when nothing is found', async () => {
    await ground.pane('signs', 'seq 1 9; exec cat');
    const shown = await look(page, 'signs');
    await shows(shown, '9');
    await page.keyboard.press('Control+Shift+F');
    await page.keyboard.type('[0-9]+');
    await page.keyboard.press('Enter');
    const hint = shown.getByText('regular expression only with .*');
    await hint.waitFor();
    await shown.getByLabel('.*').check();
    await page.getByRole('button', { name: 'Search', exact: true }).last().click();
    await shown.getByText('9 lines', { exact: true }).waitFor();
    await shown.getByLabel('.*').uncheck();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('nowhere');
    await page.keyboard.press('Enter');
    await shown.getByText('Nothing found.', { exact: true }).waitFor();
    expect(await hint.count()).toBe(0);
  });

  /** Opens the search of a pane, and finds a text. */
  const find = async (title: string, text: string): Promise<Locator> => {
    const shown = tile(page, title);
    await shown.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill(text);
    await page.keyboard.press('Enter');
    await shown.getByText('1 line', { exact: true }).waitFor();
    return shown;
  };
  /** What stands under the mark. */
  const marked = async (shown: Locator): Promise<string> => {
    const mark = shown.locator('.found');
    await mark.waitFor();
    const { x, y, height } = (await mark.boundingBox()) ?? { x: 0, y: 0, height: 0 };
    return shown.locator('.xterm-rows').evaluate(
      (rows, [left, top, bottom]) => {
        const under = [...rows.children].filter((row) => {
          const box = row.getBoundingClientRect();
          return box.bottom > top + 1 && box.top < bottom - 1 && box.right > left;
        });
        return under.map((row) => row.textContent).join('');
      },
      [x, y, y + height] as const,
    );
  };

  it('leads by keys to where a line stands, and marks it until it is closed', async () => {
    const lines = `awk 'BEGIN { for (i = 1; i <= 3000; i++) printf "\\033[3%dmline\\t%d%s\\033[0m\\n", i % 8, i, i % 3 ? "" : sprintf("%0150d", i) }'`;
    await ground.pane('far', `${lines}; echo at the end; exec cat`);
    await shows(await look(page, 'far'), 'at the end');
    const shown = await find('far', 'line\t777');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect((await marked(shown)).replaceAll(/\s+/g, '')).toBe(`line777${'777'.padStart(150, '0')}`);
    await page.keyboard.press('ArrowUp');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Pattern');
    await page.keyboard.press('Escape');
    await shown.locator('.found').waitFor({ state: 'detached' });
    await page.keyboard.type('back again');
    await shows(shown, 'back again');
  });

  it('leads to a line that was not drawn at first', async () => {
    const lines = `awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%0100d\\n", i }'`;
    await ground.pane('history', `echo before; echo the-one-line; ${lines}; echo end-of-it; exec cat`);
    await shows(await look(page, 'history'), 'end-of-it');
    const shown = await find('history', 'the-one-line');
    await shown.getByRole('button', { name: '2 the-one-line' }).click();
    expect((await marked(shown)).trim()).toBe('the-one-line');
    await shown.getByRole('button', { name: /newer lines/ }).click();
    await shows(shown, 'end-of-it');
  });

  it('says of a line that it no longer stands on the terminal', async () => {
    await ground.pane('cleared', 'echo long-gone; printf "\\033[H\\033[2J\\033[3Jafter"; exec cat');
    await shows(await look(page, 'cleared'), 'after');
    const shown = await find('cleared', 'long-gone');
    await shown.getByRole('button', { name: '1 long-gone' }).click();
    await shown.getByText('It is not on the terminal now').waitFor();
    await shown.locator('.context').getByText('1  long-gone').waitFor();
  });

  it('goes on to older lines, and says when there are none', async () => {
    await ground.pane('long', 'seq 1 250; exec cat');
    const shown = await look(page, 'long');
    await shows(shown, '250');
    await page.keyboard.press('Control+Shift+F');
    await shown.getByLabel('.*').check();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('^[0-9]+$');
    await page.keyboard.press('Enter');
    await shown.getByText('100 lines, and older ones').waitFor();
    await shown.getByRole('button', { name: 'Older matches' }).click();
    await shown.getByRole('button', { name: 'Older matches' }).click();
    await shown.getByText('250 lines', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('nowhere');
    await page.keyboard.press('Enter');
    await shown.getByText('Nothing found.').waitFor();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('(');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
  });

  /** A search of which there is more than one answer brings, with these lines found. */
  const findMany = async (): Promise<Locator> => {
    await ground.pane('many', 'seq 1 250; echo other; exec cat');
    const shown = await look(page, 'many');
    await shows(shown, 'other');
    await page.keyboard.press('Control+Shift+F');
    await shown.getByLabel('.*').check();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('^[0-9]+$');
    await page.keyboard.press('Enter');
    await shown.getByText('100 lines, and older ones').waitFor();
    return shown;
  };

  it('goes on once to older lines, however often that is pressed', async () => {
    const shown = await findMany();
    const held = await hold(page, 'pane:search');
    await shown.getByRole('button', { name: 'Older matches' }).dblclick();
    held.go();
    await shown.getByText('200 lines, and older ones').waitFor();
    expect(held.asked()).toBe(1);
    const numbers = await shown.locator('.matches .mono .dim').allTextContents();
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => String(250 - index)));
  });

  it('goes on with what was found, whatever is written in the field by then', async () => {
    const shown = await findMany();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('other');
    await shown.getByRole('button', { name: 'Older matches' }).click();
    await shown.getByText('200 lines, and older ones').waitFor();
  });

  it('shows what was asked for last, also when an older answer comes later', async () => {
    const shown = await findMany();
    const held = await hold(page, 'pane:search', '"before"');
    const late = page.waitForResponse((response) => !!response.request().postData()?.includes('"before"'));
    await shown.getByRole('button', { name: 'Older matches' }).click();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('other');
    await page.keyboard.press('Enter');
    await shown.getByText('1 line', { exact: true }).waitFor();
    held.go();
    await (await late).finished();
    await shown.getByRole('button', { name: '251 other' }).click();
    await shown.locator('.context').getByText('250  250').waitFor();
    await shown.getByText('1 line', { exact: true }).waitFor();
  });

  it('leads to the line that was chosen last, also while older ones are still to be drawn', async () => {
    const lines = `awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%0100d\\n", i }'`;
    await ground.pane('twice', `echo find-a; echo find-b; ${lines}; echo end-of-it; exec cat`);
    const shown = await look(page, 'twice');
    await shows(shown, 'end-of-it');
    await shown.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox', { name: 'Pattern' }).fill('find-');
    await page.keyboard.press('Enter');
    await shown.getByText('2 lines', { exact: true }).waitFor();
    // Both in one go, before anything is drawn.
    await shown.locator('.matches .mono').evaluateAll((matches) => {
      for (const match of matches) (match as HTMLElement).click();
    });
    expect((await marked(shown)).trim()).toBe('find-a');
    await shown.locator('.context').getByText('1  find-a').waitFor();
    expect(await shown.getByText('It is not on the terminal').count()).toBe(0);
  });
});
