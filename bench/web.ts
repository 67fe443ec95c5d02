import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { bundleDaemons } from '../scripts/bundle-daemons.ts';
import { bundleWeb } from '../scripts/bundle-web.ts';
import { type Figure, median } from './measure.ts';

const rounds = 9;

/** The page in a browser that has never seen it, against an answer of one line from the same hub. */
export async function web(): Promise<readonly Figure[]> {
  await Promise.all([bundleDaemons(), bundleWeb()]);
  await using hub = await TestHub.start();
  const { id } = await hub.client.call('pane:new', {
    argv: ['sh', '-c', 'seq 1 5000; exec cat'],
    backend: 'pty',
  });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const times = { paint: [] as number[], live: [] as number[], blank: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const page = await visit(browser, hub, id);
    times.paint.push(page.paint);
    times.live.push(page.live);
    times.blank.push(await visitBlank(browser, hub));
  }
  await browser.close();
  const shared = { unit: 'ms', against: 'GET /health, first paint', theirs: median(times.blank) };
  return [
    { what: 'page, first paint', ours: median(times.paint), ...shared, aim: '≤ 2x' },
    { what: 'page, live terminal of 5,000 lines', ours: median(times.live), ...shared, aim: '≤ 15x' },
  ];
}

const firstPaint = (): number =>
  performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN;

/** Makes the page one that had this pane open before, and notes when its terminal is live. */
const rememberPane = (layout: string): string => `
  sessionStorage.setItem('poly-layout', ${JSON.stringify(layout)});
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.tile[data-live=true]')) return;
    observer.disconnect();
    performance.mark('live');
  }).observe(document, { subtree: true, childList: true, attributes: true });`;

async function visit(
  browser: Browser,
  hub: TestHub,
  paneId: string,
): Promise<{ paint: number; live: number }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const layout = JSON.stringify({ count: 1, tiles: [paneId], active: 0 });
  await page.addInitScript(rememberPane(layout));
  const { ticket } = await hub.client.ticket('ui');
  await page.goto(`${hub.discovery.url}/#ticket=${ticket}`);
  await page.locator('.tile[data-live=true]').waitFor();
  const paint = await page.evaluate(firstPaint);
  const live = await page.evaluate(() => performance.getEntriesByName('live')[0]?.startTime ?? Number.NaN);
  await context.close();
  return { paint, live };
}

async function visitBlank(browser: Browser, hub: TestHub): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${hub.discovery.url}/health`);
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
  const paint = await page.evaluate(firstPaint);
  await context.close();
  return paint;
}
