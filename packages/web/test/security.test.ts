import { afterEach, describe, expect, it } from 'vitest';
import { look, onGround, row, shows, type WebGround } from './web-ground.ts';

let ground: WebGround;
onGround((started) => {
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

const url = (): string => ground.hub.discovery.url;
const exchange = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url()}/tickets/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('the page', () => {
  it('may load and ask nothing but its own hub', async () => {
    const { headers } = await fetch(url());
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('shows itself in its colours before its styles and scripts have come', async () => {
    const page = await ground.visit('/nowhere');
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/assets/**', (route) => promise.then(() => route.continue()));
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(url(), { waitUntil: 'commit' });
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await background()).toBe('rgb(16, 20, 28)');
    resolve();
    await page.getByRole('heading').getByText('Polyphony').waitFor();
    expect(await background()).toBe('rgb(16, 20, 28)');
    await page.context().close();
  });

  it('is kept by browsers in its parts, which have names of their own', async () => {
    const html = await (await fetch(url())).text();
    const [, asset = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    const { headers, status } = await fetch(url() + asset);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('cache-control')).toContain('immutable');
  });

  it.each([
    '/assets/..%2f..%2fdaemon.cjs',
    '/assets/..%2findex.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%5cdaemon.cjs',
    '/assets/nothing.js',
    '/assets/.js',
    '/assets/a%00.js',
    '/assets/',
    '/index.html',
    '/daemon.cjs',
  ])('holds nothing outside of its folder: %s', async (path) => {
    expect((await fetch(url() + path)).status).toBeOneOf([400, 401, 404]);
  });

  it('stands behind the gate like everything else', async () => {
    const { status } = await fetch(url(), { headers: { origin: 'http://evil.example' } });
    expect(status).toBe(403);
    expect((await exchange({ ticket: 'x' }, { origin: 'http://evil.example' })).status).toBe(403);
  });

  it('keeps no ticket and no key in its address, and none where other tabs could read it', async () => {
    const page = await ground.open();
    expect(page.url()).toBe(`${url()}/`);
    expect(await page.evaluate(() => `${document.cookie}${JSON.stringify(localStorage)}`)).not.toContain(
      'ui.',
    );
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    await page.context().close();
  });

  it('lets nobody in without a ticket, or with one that was used', async () => {
    const stranger = await ground.visit('/');
    await stranger.getByText('poly open').waitFor();
    expect(await stranger.getByRole('option').count()).toBe(0);
    await stranger.context().close();
    const { ticket } = await ground.hub.client.ticket('ui');
    expect((await exchange({ ticket })).status).toBe(200);
    const late = await ground.visit(`/#ticket=${ticket}`);
    await late.getByRole('alert').getByText('not let in').waitFor();
    expect(late.url()).toBe(`${url()}/`);
    await late.context().close();
  });

  it.each(['dark', 'light'] as const)(
    'says in the %s how to come in, in letters that can be read',
    async (colorScheme) => {
      const stranger = await ground.visit('/#ticket=used', { colorScheme });
      await stranger.getByRole('alert').waitFor();
      for (const text of ['not let in', 'poly open', 'prints an address']) {
        const [letters = 0, paper = 0] = await stranger
          .getByText(text, { exact: text === 'poly open' })
          .evaluate((one) => {
            const isClear = (colour: string): boolean => /, 0\)$/.test(colour);
            let behind: Element = one;
            while (behind.parentElement && isClear(getComputedStyle(behind).backgroundColor))
              behind = behind.parentElement;
            return [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor];
          })
          .then((colours) => colours.map(luminance));
        // What the guidelines for accessible pages ask for.
        expect((Math.max(letters, paper) + 0.05) / (Math.min(letters, paper) + 0.05)).toBeGreaterThan(4.5);
      }
      await stranger.context().close();
    },
  );
});

/** How light a colour of CSS is, from 0 to 1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((given) => {
    const part = Number(given) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the key of the page', () => {
  it('is given for the user’s own ticket of that kind alone', async () => {
    for (const kind of ['ws', 'events'] as const) {
      const { ticket } = await ground.hub.client.ticket(kind);
      expect((await exchange({ ticket })).status).toBe(401);
    }
    expect((await exchange({ ticket: 'x'.repeat(43) })).status).toBe(401);
    expect((await exchange({})).status).toBe(400);
    expect((await exchange({ ticket: 'x'.repeat(200) })).status).toBe(400);
  });

  it('cannot be had by a program in a pane', async () => {
    const thief = ground.hub.as(await ground.hub.paneToken('thief'));
    await expect(thief.ticket('ui')).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('ends when it says, and cannot be made longer or up', async () => {
    const { ticket } = await ground.hub.client.ticket('ui');
    const { token, expiresAt } = (await (await exchange({ ticket })).json()) as {
      token: string;
      expiresAt: string;
    };
    const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThanOrEqual(7);
    expect(await ground.hub.as(token).call('pane:list', {})).toEqual(expect.any(Array));
    const [kind, end, nonce, signed] = token.split('.');
    for (const forged of [
      [kind, Number(end) + 1, nonce, signed],
      [kind, end, 'A'.repeat(43), signed],
      [kind, end, nonce, 'A'.repeat(43)],
      [kind, end, nonce],
    ]) {
      const refused = ground.hub.as(forged.join('.')).call('pane:list', {});
      await expect(refused).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('that is no longer good leads back to the door', async () => {
    const page = await ground.open();
    await page.evaluate(() => sessionStorage.setItem('poly-key', `ui.1.${'A'.repeat(43)}.${'A'.repeat(43)}`));
    await page.reload();
    await page.getByRole('alert').getByText('expired').waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('poly-key'))).toBeNull();
    await page.context().close();
  });
});

describe('what programs print and name', () => {
  it('is text and nothing else in the list', async () => {
    const title = 'evil <img src=x onerror=alert(1)> \u202egnp.exe \x1b[31m';
    const { id } = await ground.hub.client.call('pane:new', {
      argv: ['cat', '<b>x</b>\x07'],
      title,
      backend: 'pty',
    });
    const page = await ground.open();
    const shown = row(page, 'evil');
    await shown.getByText('evil <img src=x onerror=alert(1)> \\u202egnp.exe ^[[31m').waitFor();
    await shown.getByText('cat <b>x</b>^G').waitFor();
    expect(await page.locator('.side img, .side b').count()).toBe(0);
    await page.context().close();
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('does not reach the clipboard, the title, the colours or another page', async () => {
    const secret = Buffer.from('stolen').toString('base64');
    const script = `printf '\\033]52;c;${secret}\\007\\033]0;new title\\007\\033]11;#ff0000\\007<b>bold</b> \\033]8;;http://evil.example/\\007link-here\\033]8;;\\007\\n'; exec cat`;
    await ground.pane('tricks', script);
    const page = await ground.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(() => navigator.clipboard.writeText('mine'));
    const shown = await look(page, 'tricks');
    await shows(shown, '<b>bold</b>');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('mine');
    expect(await page.title()).toBe('Polyphony');
    expect(await shown.locator('.xterm-rows b').count()).toBe(0);
    const opened: string[] = [];
    page.context().on('page', (other) => opened.push(other.url()));
    await shown.getByText('link-here').hover({ force: true });
    await shown.getByText('link-here').click({ force: true });
    await page.getByRole('dialog').getByText('http://evil.example/').waitFor();
    expect(opened).toEqual([]);
    expect(page.url()).toBe(`${url()}/`);
    await page.context().close();
  });

  it('is drawn in its own colours under that policy', async () => {
    await ground.pane('colours', `printf '\\033[38;2;200;100;50mreddish\\033[0m'; exec cat`);
    const page = await ground.open({ colorScheme: 'dark' });
    const shown = await look(page, 'colours');
    await shows(shown, 'reddish');
    const colour = await shown.getByText('reddish').evaluate((span) => getComputedStyle(span).color);
    expect(colour).toBe('rgb(200, 100, 50)');
    await page.context().close();
  });
});
