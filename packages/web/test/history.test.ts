import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../hub/test/test-hub.ts';
import { look, onPages, shows, stopClock, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages(
  (opened, started) => {
    page = opened;
    ground = started;
  },
  { env: { PTY_MAX_BUFFER_LINES: '300000' } },
);

/** From which byte on the page asks for output, and what it gets, from now on. */
async function listen(): Promise<{ readonly asked: number[]; readonly got: () => string }> {
  const asked: number[] = [];
  let got = '';
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      const { type, from } = JSON.parse(String(payload)) as { type: string; from: number };
      if (type === 'subscribe') asked.push(from);
    });
    socket.on('framereceived', ({ payload }) => {
      got = `${got}${payload}`.slice(-1_000);
    });
  });
  await page.reload();
  return { asked, got: () => got };
}

/** Opens a pane once it has printed everything, up to this text, and scrolls up a little. */
async function lookBack(paneId: string, title: string, text: string): Promise<Locator> {
  await ground.hub.client.call('pane:wait', { paneId, text, timeoutMs: 50_000 });
  const shown = await look(page, title);
  await shows(shown, text);
  await until(async () => {
    await page.keyboard.press('Shift+PageUp');
    return shown.getByRole('button', { name: /newer lines/ }).isVisible();
  });
  return shown;
}

describe('what was not drawn at first', () => {
  it('is drawn from its first line on, and nothing before it, also while more is printed', async () => {
    const heard = await listen();
    const lines = `awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%0100d\\n", i }'`;
    const paneId = await ground.pane('more', `echo the-very-first-line; ${lines}; echo ready; exec cat`);
    const shown = await lookBack(paneId, 'more', 'ready');
    // While the clock stands still the terminal draws nothing that comes.
    await stopClock(page);
    await ground.hub.client.call('pane:write', { paneId, data: 'printed-meanwhile', enter: true });
    await until(() => heard.got().includes('printed-meanwhile'));
    await page.keyboard.press('Control+Shift+Home');
    await until(() => heard.asked.length > 1);
    await page.clock.resume();
    await shown.getByText('Fetching').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Shift+Home');
    await until(async () => {
      const top = await shown.locator('.xterm-rows > div').first().textContent();
      return top?.trim() === 'the-very-first-line';
    });
  }, 60_000);

  it('runs by before nobody: the terminal stands still until it is drawn', async () => {
    const paneId = await ground.pane('still', 'seq 1 200000; echo end-of-it; exec cat');
    const shown = await lookBack(paneId, 'still', 'end-of-it');
    // The first line that is to be seen, in every picture that the browser paints.
    await shown.locator('.xterm-screen').evaluate((screen) => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      const note = (): void => {
        const rows = [...screen.querySelectorAll<HTMLElement>('.xterm-rows')];
        const visible = rows.filter((one) => getComputedStyle(one).visibility === 'visible');
        const text = visible.map((one) => one.firstElementChild?.textContent?.trim()).join();
        if (text !== seen.at(-1)) seen.push(text);
        requestAnimationFrame(note);
      };
      note();
    });
    await page.keyboard.press('Control+Shift+Home');
    await shown.getByText('Fetching').waitFor();
    const begun = await page.evaluate(() => (window as unknown as { seen: string[] }).seen.length);
    await shown.getByText('Fetching').waitFor({ state: 'detached' });
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    // It stands where it stood, and at most where it is now.
    expect(seen.slice(begun).length).toBeLessThanOrEqual(1);
    await shows(shown, /\d/);
  }, 60_000);

  it('is fetched as far as a terminal can hold it', async () => {
    const { asked } = await listen();
    const paneId = await ground.pane('endless', 'seq 1 230000; echo end-of-it; exec cat');
    await lookBack(paneId, 'endless', 'end-of-it');
    await page.keyboard.press('Control+Shift+Home');
    await until(() => asked.length > 1);
    const [first = 0, second = 0] = asked;
    expect(second).toBeGreaterThan(100_000);
    expect(second).toBeLessThan(first);
  }, 60_000);
});
