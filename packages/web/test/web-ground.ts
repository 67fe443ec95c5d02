import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { TestHub, type TestHubOptions } from '../../hub/test/test-hub.ts';

/** A real hub and a real browser that looks at it. */
export class WebGround implements AsyncDisposable {
  readonly hub: TestHub;
  readonly #browser: Browser;
  /** What the browser complained about: errors of scripts, and what its policy refused. */
  readonly complaints: string[] = [];

  private constructor(hub: TestHub, browser: Browser) {
    this.hub = hub;
    this.#browser = browser;
  }

  static async start(options: TestHubOptions = {}): Promise<WebGround> {
    const browser = await chromium.launch({
      executablePath: process.env.POLY_TEST_CHROMIUM ?? '/usr/bin/chromium',
      // Chromium's own sandbox does not work for root, as in a container.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    });
    return new WebGround(await TestHub.start(options), browser);
  }

  /** A page that nobody has let in, in a browser context of its own. */
  async visit(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(25_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) this.complaints.push(message.text());
    });
    await page.goto(`${this.hub.discovery.url}${path}`);
    return page;
  }

  /** The page as `poly open` opens it. */
  async open(options: BrowserContextOptions = {}): Promise<Page> {
    const { ticket } = await this.hub.client.ticket('ui');
    const page = await this.visit(`/#ticket=${ticket}`, options);
    await page.locator('.connection[data-state=live]').waitFor();
    return page;
  }

  /** The page as somebody opens it whom the user has invited. */
  async openAs(name: string): Promise<Page> {
    const { ticket } = await this.hub.client.call('person:invite', { name });
    const page = await this.visit(`/#ticket=${ticket}`);
    await page.locator('.connection[data-state=live]').waitFor();
    return page;
  }

  /** A pane that says something, and then takes input. */
  async pane(title: string, script = 'exec cat', more: object = {}): Promise<string> {
    const { id } = await this.hub.client.call('pane:new', {
      argv: ['sh', '-c', script],
      title,
      backend: 'pty',
      ...more,
    });
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.hub[Symbol.asyncDispose]();
  }
}

/** Gives the tests here one ground. */
export function onGround(take: (ground: WebGround) => void, options: TestHubOptions = {}): void {
  let ground: WebGround;
  beforeAll(async () => {
    ground = await WebGround.start(options);
    take(ground);
  }, 60_000);
  afterAll(() => ground[Symbol.asyncDispose]());
}

/** Gives the tests here one ground, and each of them a page of its own and no pane of another. */
export function onPages(take: (page: Page, ground: WebGround) => void, options: TestHubOptions = {}): void {
  let ground: WebGround;
  let page: Page;
  onGround((started) => {
    ground = started;
  }, options);
  beforeEach(async () => {
    page = await ground.open();
    take(page, ground);
  });
  afterEach(async () => {
    await page.context().close();
    const { client } = ground.hub;
    for (const { id } of await client.call('pane:list', {})) await client.call('pane:close', { paneId: id });
  });
}

/** Stops the clock of a page, later by less than the silence after which it takes the hub for gone. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 20_000);
}

/** The row of a pane in the list. */
export const row = (page: Page, title: string): Locator =>
  page.getByRole('option').filter({ hasText: title });

/** The tile that shows a pane. */
export const tile = (page: Page, title: string): Locator =>
  page.getByRole('region', { name: `Pane ${title}` });

/** Opens a pane by a click and waits until its terminal is live. */
export async function look(page: Page, title: string): Promise<Locator> {
  await row(page, title).click();
  const shown = tile(page, title);
  await shown.and(page.locator('[data-live=true]')).waitFor();
  return shown;
}

/** Waits until a terminal shows a text. */
export async function shows(shown: Locator, text: string | RegExp): Promise<void> {
  await shown.locator('.xterm-rows').filter({ hasText: text }).waitFor();
}

/** Holds requests for an action, those with a word in them, until they may go on; tells how many there were. */
export async function hold(
  page: Page,
  action: string,
  word = '',
): Promise<{ readonly asked: () => number; readonly go: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  await page.route(`**/action/${encodeURIComponent(action)}`, async (route) => {
    // Chromium does not always tell what a request holds.
    if (word === '' || route.request().postData()?.includes(word)) {
      asked++;
      await promise;
    }
    await route.continue();
  });
  return { asked: () => asked, go: resolve };
}
