import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../hub/test/test-hub.ts';
import { look, onPages, row, shows, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});

const plain = async (paneId: string): Promise<string> => {
  const { lines = [] } = await ground.hub.client.call('pane:read', { paneId });
  return lines.map(({ text }) => text).join('\n');
};

describe('a terminal', () => {
  it('shows what a program has printed, and what it prints from now on', async () => {
    const id = await ground.pane('talk', 'printf "first\\n"; read line; echo "got $line"; exec cat');
    const shown = await look(page, 'talk');
    await shows(shown, 'first');
    await ground.hub.client.call('pane:write', { paneId: id, data: 'it', enter: true });
    await shows(shown, 'got it');
  });

  it('types what is typed, Esc and Ctrl-C as bytes', async () => {
    const id = await ground.pane('keys', 'stty raw -echo; echo ready; od -An -tx1 -v -w1');
    const shown = await look(page, 'keys');
    await shows(shown, 'ready');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+c');
    await page.keyboard.type('é');
    await until(async () => /1b\s+03\s+c3\s+a9/.test(await plain(id)));
    expect((await ground.hub.client.call('pane:list', {})).find((pane) => pane.id === id)?.status).toBe(
      'running',
    );
  });

  it('interrupts a program with Ctrl-C', async () => {
    await ground.pane('trap', 'trap "echo interrupted" INT; echo ready; while :; do sleep 0.05; done');
    const shown = await look(page, 'trap');
    await shows(shown, 'ready');
    await page.keyboard.press('Control+c');
    await shows(shown, 'interrupted');
  });

  it('pastes several lines as one paste, when the program takes pastes', async () => {
    const id = await ground.pane('paste', 'stty raw -echo; printf "\\033[?2004hready"; cat -v');
    const shown = await look(page, 'paste');
    await shows(shown, 'ready');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'one\ntwo');
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true }),
      );
    });
    await until(
      async () => (await plain(id)).includes('^[[200~one') && (await plain(id)).includes('two^[[201~'),
    );
  });

  it('sends a paste of a megabyte whole', async () => {
    const id = await ground.pane('large', 'stty raw -echo; echo ready; head -c 1000000 | md5sum; exec cat');
    await shows(await look(page, 'large'), 'ready');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'x'.repeat(1_000_000));
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true }),
      );
    });
    const sum = createHash('md5').update('x'.repeat(1_000_000)).digest('hex');
    await until(async () => (await plain(id)).includes(sum));
  });

  it('copies what is selected, and nothing else, and pastes by its button', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const id = await ground.pane('board', 'echo word; exec cat');
    const shown = await look(page, 'board');
    await shows(shown, 'word');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.evaluate(() => navigator.clipboard.writeText('from before'));
    await page.keyboard.press('Control+Shift+C');
    expect(await copied()).toBe('from before');
    await shown.getByRole('button', { name: 'Paste' }).click();
    await until(async () => (await plain(id)).includes('from before'));
    const { x = 0, y = 0 } = (await shown.locator('.xterm-rows').boundingBox()) ?? {};
    await page.mouse.dblclick(x + 5, y + 5);
    await page.keyboard.press('Control+Shift+C');
    await until(async () => (await copied()) === 'word');
  });

  it('says so when the browser keeps the clipboard to itself', async () => {
    await ground.pane('shut');
    const shown = await look(page, 'shut');
    await page.evaluate(() => {
      navigator.clipboard.readText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
    });
    await shown.getByRole('button', { name: 'Paste' }).click();
    await page.getByRole('alert').getByText('keeps its clipboard').waitFor();
    expect(ground.complaints).toEqual([]);
  });

  it('keeps the size of the pane, whatever the size of the window, until asked to fit', async () => {
    const id = await ground.pane('size', 'exec cat', { cols: 132, rows: 50 });
    const shown = await look(page, 'size');
    const size = async (): Promise<string> => {
      const { cols, rows } = await ground.hub.client.call('pane:screen', { paneId: id });
      return `${cols}×${rows}`;
    };
    await shown.getByText('132×50').waitFor();
    await page.setViewportSize({ width: 700, height: 400 });
    await page.setViewportSize({ width: 1000, height: 600 });
    expect(await size()).toBe('132×50');
    await shown.getByRole('button', { name: 'Fit' }).click();
    await until(async () => (await size()) !== '132×50');
    await shown.getByText(await size()).waitFor();
  });

  it('takes on the size that somebody else gives the pane', async () => {
    const id = await ground.pane('other', 'exec cat', { cols: 100, rows: 30 });
    const shown = await look(page, 'other');
    await shown.getByText('100×30').waitFor();
    await ground.hub.client.call('pane:resize', { paneId: id, cols: 77, rows: 22 });
    await shown.getByText('77×22').waitFor();
  });

  it('stays where the user has scrolled to, says how much is newer, and follows again', async () => {
    const id = await ground.pane('scroll', 'seq 1 500; exec cat');
    const shown = await look(page, 'scroll');
    await shows(shown, '500');
    await page.keyboard.press('Shift+PageUp');
    const newer = shown.getByRole('button', { name: /newer lines/ });
    await newer.waitFor();
    await ground.hub.client.call('pane:write', { paneId: id, data: 'news', enter: true });
    await newer.click();
    await shows(shown, 'news');
    await newer.waitFor({ state: 'detached' });
  });

  it('goes back through everything that is kept, also what was not drawn at first', async () => {
    const lines = `awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%0100d\\n", i }'`;
    await ground.pane('history', `echo the-very-first-line; ${lines}; echo end-of-it; exec cat`);
    const shown = await look(page, 'history');
    await shows(shown, 'end-of-it');
    // The first time leads to the oldest line that was drawn, where all that is kept is fetched.
    await until(async () => {
      await page.keyboard.press('Control+Shift+Home');
      if (await shown.getByText('Fetching').isVisible()) return false;
      return shown.locator('.xterm-rows').filter({ hasText: 'the-very-first-line' }).isVisible();
    });
    await page.keyboard.press('Control+Shift+End');
    await shows(shown, 'end-of-it');
  });

  it('shows a full-screen program as it stands now', async () => {
    await ground.pane(
      'full',
      'printf "before\\n\\033[?1049h\\033[2J\\033[5;10Hin the middle\\033[H"; exec cat',
    );
    const shown = await look(page, 'full');
    await shows(shown, 'in the middle');
    expect(await shown.locator('.xterm-rows').textContent()).not.toContain('before');
  });

  it('gives an emoji the two columns it has', async () => {
    await ground.pane('wide', 'printf "\\033[2J\\033[H😀x\\033[1;4Hy"; exec cat');
    await shows(await look(page, 'wide'), '😀xy');
  });

  it('answers no question of a program, which the hub has answered already', async () => {
    const id = await ground.pane(
      'ask',
      'stty raw -echo; printf "\\033[c\\033[6n\\033]11;?\\007\\033[?1004hasked"; od -An -tx1 -v -w1',
    );
    const shown = await look(page, 'ask');
    await shows(shown, 'asked');
    await page.keyboard.type('z');
    await until(async () => (await plain(id)).includes('7a'));
    // What it is, where the cursor stands and what lies behind it: once each, from the hub, and nothing more.
    const [what, where, typed] = ['1b5b3f313b3263', '1b5b313b3152', '7a'];
    const behind = Buffer.from('\x1b]11;rgb:0d0d/1010/1717\x1b\\').toString('hex');
    expect((await plain(id)).replace(/\s/g, '')).toBe(`asked${what}${where}${behind}${typed}`);
  });

  it('is live while a flood goes on, too', async () => {
    const id = await ground.pane('endless', 'yes endless');
    await shows(await look(page, 'endless'), 'endless');
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('draws a flood without losing its end', async () => {
    await ground.pane('flood', 'read go; seq 1 900000; echo flood-is-over; exec cat');
    const shown = await look(page, 'flood');
    page.setDefaultTimeout(55_000);
    await page.keyboard.type('go\r');
    await shows(shown, 'flood-is-over');
  }, 60_000);

  it('says how a program has ended', async () => {
    await ground.pane('ends', 'echo bye; read line; exit 7');
    const shown = await look(page, 'ends');
    await shows(shown, 'bye');
    await page.keyboard.press('Enter');
    await shown.getByText('ended: 7').waitFor();
    await row(page, 'ends').getByText('ended: 7').waitFor();
  });

  it('shows two panes beside each other, and four', async () => {
    for (const name of ['one', 'two', 'three', 'four'])
      await ground.pane(`pane-${name}`, `echo I am ${name}; exec cat`);
    for (const [name, tiles] of [
      ['2 tiles', 2],
      ['4 tiles', 4],
    ] as const) {
      await page.getByRole('button', { name }).click();
      for (const number of ['one', 'two', 'three', 'four'].slice(0, tiles))
        await look(page, `pane-${number}`);
      expect(await page.locator('.tile .xterm').count()).toBe(tiles);
    }
    for (const number of ['one', 'two', 'three', 'four'])
      await shows(tile(page, `pane-${number}`), `I am ${number}`);
  });
});
