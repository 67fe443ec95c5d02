import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { bodies, register } from '../../hub/test/mail-ground.ts';
import { hold, onPages, row, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

const thread = () => page.getByRole('article', { name: 'Thread' });
const receipts = (of: string): Locator =>
  thread().getByRole('listitem').filter({ hasText: of }).getByLabel('Receipts');
const openMail = async (): Promise<void> => {
  await page.keyboard.press('m');
  await page.getByRole('link', { name: 'Mail' }).and(page.locator('[aria-current=page]')).waitFor();
};

describe('mail', () => {
  it('teaches how to begin where there is none', async () => {
    await openMail();
    const region = page.getByRole('region', { name: 'No mail yet' });
    await region.getByText('poly mail send').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await region.getByRole('button', { name: 'Copy' }).click();
    await region.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^poly mail send/);
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByText('register_agent').waitFor();
  });

  it('shows what agents write to each other as it comes, and receipts that change as it is read', async () => {
    const [ann, ben] = [
      await register(ground.hub, 'ann', { project: 'shop' }),
      await register(ground.hub, 'ben', { project: 'shop' }),
    ];
    await openMail();
    const begun = await ann.call('mail:send', { to_agent_name: 'ben', subject: 'Refunds', body: 'Twice?' });
    await row(page, 'Refunds').getByText('1 unread').waitFor();
    await row(page, 'Refunds').click();
    await receipts('Twice?').getByText('queued').waitFor();
    await ben.read();
    await receipts('Twice?').getByText('read', { exact: true }).waitFor();
    await ben.call('mail:send', { to_agent_name: 'ann', body: 'Once now.', reply_to: begun.message_id });
    await receipts('Once now.').getByText('queued').waitFor();
    await row(page, 'Refunds').getByText('2 messages').waitFor();
    await ground.hub.client.call('mail:send', {
      to_agent_name: 'ben',
      to_project: 'shop',
      subject: 'Asleep',
      body: 'No hurry.',
      auto_poke: false,
    });
    await row(page, 'Asleep').click();
    await receipts('No hurry.').getByText('auto poke disabled').waitFor();
  });

  it('is written to one, to a role and to all, and answered, by keys alone', async () => {
    const project = 'crew';
    const [cat, dan, eve] = [
      await register(ground.hub, 'cat', { project, role: 'builder' }),
      await register(ground.hub, 'dan', { project, role: 'builder' }),
      await register(ground.hub, 'eve', { project }),
    ];
    await openMail();
    const dialog = page.getByRole('dialog', { name: 'Write' });
    const write = async (to: string, body: string): Promise<void> => {
      await page.keyboard.press('c');
      await dialog.locator('[name=to]').selectOption({ label: to });
      await dialog.getByLabel('Message').focus();
      await page.keyboard.type(body);
      await page.keyboard.press('Control+Enter');
      await dialog.waitFor({ state: 'detached' });
      await thread().getByText(body).waitFor();
    };
    await write('eve', 'For one.');
    await write('everyone who is builder', 'For a role.');
    await write('everyone in crew', 'For all.');
    expect(bodies(await eve.read())).toEqual(['For one.', 'For all.']);
    expect(bodies(await cat.read())).toEqual(['For a role.', 'For all.']);
    await receipts('For all.').getByText('read', { exact: true }).nth(1).waitFor();
    await receipts('For all.').getByRole('listitem').filter({ hasText: 'dan' }).getByText('queued').waitFor();

    const [asked] = (await dan.read()).slice(-1);
    await dan.call('mail:send', { to_agent_name: 'user', body: 'May I?', reply_to: asked?.message_id });
    await thread().getByText('May I?').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('You may.');
    await page.keyboard.press('Control+Enter');
    await receipts('You may.').getByText('dan').waitFor();
    expect(await dan.read()).toMatchObject([
      { body: 'You may.', trust: 'user', thread_id: asked?.thread_id },
    ]);
    await receipts('You may.').getByText('read', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await thread().getByText('For a role.').waitFor();
  });

  it('that is new stays so until it was shown, and is read for its sender then', async () => {
    const fay = await register(ground.hub, 'fay', { project: 'news' });
    const send = (subject: string) =>
      fay.call('mail:send', { to_agent_name: 'user', subject, body: subject });
    const [first] = [await send('First news'), await send('Second news')];
    await page.getByRole('link', { name: 'Mail 2 new' }).click();
    await row(page, 'First news').click();
    await thread().getByText('First news').first().waitFor();
    await row(page, 'First news').locator('[data-new=false]').waitFor();
    await row(page, 'Second news').locator('[data-new=true]').waitFor();
    const status = async () =>
      (await fay.call('mail:status', { message_id: first?.message_id ?? '' })).statuses[0]?.read;
    await row(page, 'Second news').click();
    await page.getByRole('link', { name: 'Mail', exact: true }).waitFor();
    expect(await status()).toBe(true);
    await send('Third news');
    await row(page, 'Third news').locator('[data-new=true]').waitFor();
    await page.keyboard.press('R');
    await page.getByRole('link', { name: 'Mail', exact: true }).waitFor();
  });

  it('is found by its words, and by its project', async () => {
    await register(ground.hub, 'gil', { project: 'haystack' });
    await register(ground.hub, 'hal', { project: 'elsewhere' });
    const send = (to_agent_name: string, body: string) =>
      ground.hub.client.call('mail:send', { to_agent_name, body });
    await send('gil', 'a needle in the hay');
    await send('gil', 'only hay');
    await send('hal', 'no such thing');
    await openMail();
    await row(page, 'only hay').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('needle');
    await row(page, 'only hay').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await thread().getByText('a needle in the hay').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await row(page, 'only hay').waitFor();
    await page.getByLabel('Project').selectOption('elsewhere');
    await row(page, 'only hay').waitFor({ state: 'detached' });
    await row(page, 'no such thing').waitFor();
  });

  it('that is sent twice in haste is one message', async () => {
    const ida = await register(ground.hub, 'ida', { project: 'hurry' });
    await ground.hub.client.call('mail:send', { to_agent_name: 'ida', subject: 'Haste', body: 'Begin.' });
    await openMail();
    await row(page, 'Haste').click();
    const held = await hold(page, 'mail:send-by-id');
    await thread().getByLabel('Your answer').fill('Only once.');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Control+Enter');
    held.go();
    await receipts('Only once.').waitFor();
    expect(held.asked()).toBe(1);
    expect(bodies(await ida.read())).toEqual(['Begin.', 'Only once.']);
  });

  it('is text and nothing else, whatever somebody writes', async () => {
    const jo = await register(ground.hub, 'jo', {
      project: 'hostile',
      display_name: '<img src=x onerror=alert(1)>',
    });
    await jo.call('mail:send', {
      to_agent_name: 'user',
      subject: '<script>document.title = "taken"</script>\u202egnp.exe',
      body: '<b>bold</b> [link](javascript:alert(1))\n\u001b[2J\u200b\u{e0041}\nhttps://evil.example/\n\u0007',
    });
    await openMail();
    await row(page, 'script').click();
    const body = thread().locator('.body');
    expect(await body.textContent()).toBe(
      '<b>bold</b> [link](javascript:alert(1))\n^[[2J\\u200b\\u{e0041}\nhttps://evil.example/\n^G',
    );
    await row(page, '<script>document.title = "taken"</script>\\u202egnp.exe').waitFor();
    expect(await thread().locator('a, b, img, script').count()).toBe(0);
    expect(await page.title()).not.toContain('taken');
    await page.keyboard.press('w');
    await row(page, '<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('shows the list or a thread on a phone, and fits', async () => {
    await register(ground.hub, 'kim', { project: 'phone' });
    await ground.hub.client.call('mail:send', {
      to_agent_name: 'kim',
      subject: 'On a phone',
      body: 'unbreakable'.repeat(60),
    });
    await page.setViewportSize({ width: 390, height: 780 });
    await openMail();
    const line = row(page, 'On a phone');
    await line.click();
    await thread().waitFor();
    await line.waitFor({ state: 'hidden' });
    const overflows = () =>
      page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect(await overflows()).toBe(false);
    expect(await thread().evaluate((sheet) => sheet.scrollWidth > sheet.clientWidth)).toBe(false);
    await thread().getByRole('button', { name: 'Back to the list' }).click();
    await line.waitFor();
    expect(await overflows()).toBe(false);
  });
});

describe('mail of a hub that was killed', () => {
  it('is shown as it was, keeps what somebody writes, and goes on with the next hub', async () => {
    delete ground.hub.env.POLY_PORT;
    await ground.hub.kill('SIGTERM');
    await ground.hub.start();
    await page.context().close();
    page = await ground.open();
    const lea = await register(ground.hub, 'lea', { project: 'killed' });
    await ground.hub.client.call('mail:send', {
      to_agent_name: 'lea',
      subject: 'Before',
      body: 'Still here',
    });
    await openMail();
    await row(page, 'Before').click();
    await thread().getByText('Still here').waitFor();
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await thread().getByLabel('Your answer').fill('Are you back?');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText('did not answer').waitFor();
    expect(await thread().getByLabel('Your answer').inputValue()).toBe('Are you back?');
    await ground.hub.start();
    await page.locator('.connection[data-state=live]').waitFor();
    await thread().getByRole('button', { name: 'Send' }).click();
    await receipts('Are you back?').getByText('queued').waitFor();
    await lea.read();
    await receipts('Are you back?').getByText('read', { exact: true }).waitFor();
  }, 60_000);
});
