import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeComposer } from '../../hub/test/fake-composer.ts';
import { openWindow, recorded, type Window } from '../../hub/test/timeline-ground.ts';
import { onPages, row, shows, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});
afterEach(() => {
  expect(ground.complaints.splice(0)).toEqual([]);
});

const story = (): Locator => page.getByRole('region', { name: 'Timeline' });
const entry = (text: string | RegExp): Locator =>
  story().getByRole('list', { name: 'Entries' }).locator('> li').filter({ hasText: text });
const beside = (name: string): Locator => page.getByRole('complementary', { name });

/** A window whose session is open on the page. */
async function watch(id: string, project: string): Promise<Window> {
  const window = await openWindow(ground.hub, id, project);
  await page.keyboard.press('o');
  await row(page, window.session.slug).click();
  await entry('joined').waitFor();
  return window;
}

describe('a session', () => {
  it('is a story that goes on as it happens, with what tools were given and gave folded away', async () => {
    const { hook, id } = await watch('teller', 'tales');
    const bash = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'toolu_1' };
    await hook('UserPromptSubmit', { prompt: 'run the tests' });
    await entry('run the tests').getByText('You').waitFor();
    await hook('PreToolUse', bash);
    const tool = entry('npm test').filter({ has: page.locator('details') });
    await tool.getByRole('img', { name: 'not ended' }).waitFor();
    await hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm test' } });
    await entry('asks').waitFor();
    await hook('PostToolUse', { ...bash, tool_response: { stdout: 'all green', stderr: '' } });
    await tool.getByRole('img', { name: 'done' }).waitFor();
    await entry('approved').getByText('You').waitFor();
    expect(await tool.getByText('all green').isVisible()).toBe(false);
    await tool.locator('summary').click();
    await tool.getByText('all green').waitFor();
    const failing = { ...bash, tool_input: { command: 'false' }, tool_use_id: 'toolu_2' };
    await hook('PreToolUse', failing);
    await hook('PostToolUseFailure', { ...failing, error: 'exit 1' });
    await entry('false').getByRole('img', { name: 'failed' }).waitFor();
    await hook('PermissionDenied', { ...bash, tool_use_id: 'toolu_3', reason: 'not allowed' });
    await entry('rejected').getByText('not allowed').waitFor();
    await hook('Interrupt', { turn_id: 't' }, 'codex');
    await entry('interrupted').first().waitFor();
    await hook('PostCompact', { trigger: 'auto', compact_summary: 'so far' });
    await entry('compaction').getByText('so far').waitFor();
    await hook('Stop', { last_assistant_message: 'They pass.' });
    await entry('They pass.').getByText('claude').waitFor();
    // The terminal of the very pane stands beside it, and takes what is typed.
    const terminal = beside('Terminal').getByRole('region', { name: `Pane ${id}` });
    await terminal.and(page.locator('[data-live=true]')).waitFor();
    await terminal.locator('.box').click();
    await page.keyboard.type('echoed');
    await shows(terminal, 'echoed');
  });

  it('leaves its terminal to the tile it was in before, without a gap', async () => {
    const { session, id } = await watch('lender', 'tales');
    await page.keyboard.press('p');
    await row(page, id).click();
    const tile = page.getByRole('region', { name: `Pane ${id}` });
    await tile.and(page.locator('[data-live=true]')).waitFor();
    await page.keyboard.type('one ');
    await shows(tile, 'one');
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('o');
    await row(page, session.slug).click();
    const lent = beside('Terminal').getByRole('region', { name: `Pane ${id}` });
    await lent.and(page.locator('[data-live=true]')).waitFor();
    await lent.locator('.box').click();
    await page.keyboard.type('two ');
    await shows(lent, 'one two');
    await page.getByRole('link', { name: 'Terminals' }).click();
    await shows(tile, 'one two');
    await tile.locator('.box').click();
    await page.keyboard.type('three');
    await shows(tile, 'one two three');
  });

  it('is read back to its beginning, and from any entry that was found', async () => {
    const { hook, session } = await openWindow(ground.hub, 'longest', 'tales');
    const long = 200;
    for (let i = 0; i < long; i++) await hook('UserPromptSubmit', { prompt: `prompt number ${i} of many` });
    await recorded(ground.hub, session.session_id, long + 1);
    await page.keyboard.press('o');
    await row(page, session.slug).click();
    await entry(`prompt number ${long - 1} `).waitFor();
    expect(await entry('prompt number 0 ').count()).toBe(0);
    while ((await entry('prompt number 0 ').count()) === 0) {
      const first = await entry('prompt number').first().getAttribute('id');
      await story().getByRole('button', { name: 'Earlier' }).click();
      await page.waitForFunction((id) => document.querySelector('.entry')?.id !== id, first);
    }
    const texts = await story().locator('.entry .body').allTextContents();
    expect(texts).toEqual(Array.from({ length: long }, (_, i) => `prompt number ${i} of many`));
    await page.reload();
    await entry(`prompt number ${long - 1} `).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('number 7');
    await story().getByRole('list', { name: 'Found' }).getByText('number 7 of').waitFor();
    await page.keyboard.press('Enter');
    await entry('prompt number 7 ').and(page.locator(':focus')).waitFor();
    await story().getByRole('button', { name: 'Later' }).waitFor();
    await page.keyboard.press('e');
    await entry(`prompt number ${long - 1} `).waitFor();
    await hook('UserPromptSubmit', { prompt: 'and one more' });
    await entry('and one more').waitFor();
  }, 120_000);

  it('has entries starred, tagged and marked as decided, by keys, which are listed and lead back', async () => {
    const { hook, session } = await watch('marker', 'marks');
    await hook('UserPromptSubmit', { prompt: 'which database' });
    await hook('Stop', { last_assistant_message: 'SQLite is enough.' });
    const answer = entry('SQLite is enough.');
    await answer.waitFor();
    await page.keyboard.press('k');
    await answer.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('*');
    await answer.getByRole('button', { name: 'Star', pressed: true }).waitFor();
    await page.keyboard.press('*');
    await answer.getByRole('button', { name: 'Star', pressed: false }).waitFor();
    await page.keyboard.press('#');
    await page.getByRole('dialog', { name: 'Tag' }).getByLabel('The tag').fill('storage');
    await page.keyboard.press('Enter');
    await answer.getByText('storage').waitFor();
    await page.keyboard.press('d');
    await page.getByRole('dialog', { name: 'Decision' }).getByRole('textbox').fill('We use SQLite.');
    await page.keyboard.press('Enter');
    await answer.getByText('We use SQLite.').waitFor();
    await answer.getByRole('button', { name: 'Take the tag storage away' }).click();
    await answer.getByText('storage').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: '‹ Floor' }).click();
    await page.getByRole('navigation', { name: 'Floor' }).getByRole('link', { name: 'Decisions' }).click();
    await row(page, 'We use SQLite.').getByText(session.slug).waitFor();
    await page.keyboard.press('Enter');
    await answer.and(page.locator(':focus')).waitFor();
    await answer.getByRole('button', { name: 'Take the decision away' }).click();
    await answer.getByText('We use SQLite.').waitFor({ state: 'detached' });
  });

  it('says what changed since somebody drove it, which branches were seen, and is exported whole', async () => {
    const { hook, session } = await watch('changer', 'changes');
    const bash = (command: string, stdout: string, call: string) => ({
      ...{ tool_name: 'Bash', tool_input: { command }, tool_use_id: call },
      tool_response: { stdout, stderr: '' },
    });
    await hook('UserPromptSubmit', { prompt: 'commit it' });
    const done = bash('git checkout -b refunds', "Switched to a new branch 'refunds'", 'c1');
    await hook('PreToolUse', done);
    await hook('PostToolUse', done);
    await hook('Stop', { last_assistant_message: 'It is **committed**.' });
    await entry('It is **committed**.').waitFor();
    await page.keyboard.press('i');
    await beside('What changed').getByText('Since you last drove').waitFor();
    await beside('What changed').getByText('It is **committed**.').waitFor();
    await page.getByRole('button', { name: 'About' }).click();
    await beside('About').getByText('refunds', { exact: true }).waitFor();
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        beside('About').getByRole('button', { name }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(new RegExp(`^changes-${session.slug}\\.(md|json)$`));
      return readFileSync(await download.path(), 'utf8');
    };
    expect(await saved('Markdown')).toContain('It is **committed**.');
    expect(JSON.parse(await saved('JSON'))).toMatchObject({
      session: { slug: session.slug },
      entries: [
        { kind: 'joined' },
        { kind: 'prompt', text: 'commit it' },
        { kind: 'tool' },
        { kind: 'answer' },
      ],
    });
    await beside('About').getByRole('button', { name: 'Put it away' }).click();
    await beside('About').getByText('It is archived').waitFor();
    await page.keyboard.press('u');
    await page.getByRole('checkbox', { name: 'Archived' }).waitFor();
    expect(await row(page, session.slug).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Archived' }).check();
    await row(page, session.slug).getByText('archived').waitFor();
  });

  it('is found with all others by words, and among people and agents', async () => {
    const { hook, session } = await watch('finder', 'finding');
    await hook('UserPromptSubmit', { prompt: 'where is the xylophone kept' });
    await hook('Stop', { last_assistant_message: 'In the attic.' });
    await entry('In the attic.').waitFor();
    await page.keyboard.press('u');
    const tabs = page.getByRole('navigation', { name: 'Floor' });
    await tabs.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('xylo*');
    await row(page, 'xylophone').getByText(session.slug).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await entry('xylophone').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('u');
    await tabs.getByRole('link', { name: 'People and agents' }).click();
    const agent = page
      .getByRole('group', { name: 'Agents' })
      .getByRole('option')
      .filter({ hasText: 'claude' });
    await agent.getByText(`finding/${session.slug}`).waitFor();
    await page.getByRole('group', { name: 'People' }).getByText('you', { exact: true }).waitFor();
  });

  it('is text and nothing else, whatever stands in any field', async () => {
    const evil = '<img src=x onerror=alert(1)><b>b</b>\u202egnp\u001b]0;taken\u0007\u001b[2J';
    const { hook, session } = await watch('hostile', 'hostile');
    const label = '<script>document.title="taken"</script>';
    await ground.hub.client.call('floor:label', { session: session.session_id, label });
    const tool = {
      ...{ tool_name: `${evil}${'n'.repeat(10_000)}`, tool_input: { command: evil }, tool_use_id: 'h1' },
      tool_response: { stdout: evil, stderr: evil },
    };
    await hook('UserPromptSubmit', { prompt: evil });
    await hook('PreToolUse', tool);
    await hook('PostToolUse', tool);
    await hook('PermissionRequest', tool);
    await hook('StopFailure', { error: evil });
    await hook('Notification', { message: evil });
    await hook('PostCompact', { trigger: evil, compact_summary: evil });
    await hook('SubagentStop', { agent_id: evil, agent_type: evil, last_assistant_message: evil });
    await hook('Stop', { last_assistant_message: `${evil}${'x'.repeat(10_000)}` });
    const last = entry('xxxxxxxxxx');
    await last.waitFor();
    await page.keyboard.press('k');
    const { entry_id } = (await ground.hub.client.call('floor:search', { query: 'onerror', limit: 1 }))
      .results[0]?.entry ?? { entry_id: '' };
    const { client } = ground.hub;
    await client.call('floor:annotate', {
      session: session.session_id,
      entry: entry_id,
      kind: 'decision',
      value: evil,
    });
    await page.getByText('decided').waitFor();
    for (const summary of await story().locator('summary').all()) await summary.click();
    for (const tab of ['What changed', 'Digest', 'About']) {
      await page.getByRole('button', { name: tab }).click();
      await beside(tab).waitFor();
    }
    const inert = async (): Promise<void> => {
      expect(await page.locator('main :is(img, b, script, iframe)').count()).toBe(0);
      const text = (await page.locator('main').last().textContent()) ?? '';
      expect(text).not.toMatch(/[\u202a-\u202e\u001b\u0007]/);
      expect(await page.title()).not.toContain('taken');
    };
    expect(await story().textContent()).toContain('\\u202egnp^[]0;taken^G^[[2J');
    await inert();
    const isTooWide = (box: Element): boolean => box.scrollWidth > box.clientWidth;
    expect(await story().locator('.story-box').evaluate(isTooWide)).toBe(false);
    await page.keyboard.press('u');
    await row(page, label).waitFor();
    await inert();
    const tabs = page.getByRole('navigation', { name: 'Floor' });
    await tabs.getByRole('link', { name: 'Decisions' }).click();
    await row(page, '<img src=x').waitFor();
    await inert();
    await tabs.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('onerror');
    await row(page, '<img src=x').first().waitFor();
    await inert();
  });

  it('shows its story or its terminal on a phone, and fits', async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    const { hook } = await watch('pocket', 'pockets');
    await hook('UserPromptSubmit', { prompt: 'unbreakable'.repeat(60) });
    await entry('unbreakable').waitFor();
    const overflows = (): Promise<boolean> =>
      page.evaluate(() =>
        [...document.querySelectorAll('.app, .session, .story-box, .beside')].some(
          (box) => box.scrollWidth > box.clientWidth,
        ),
      );
    expect(await overflows()).toBe(false);
    await page.getByRole('button', { name: 'Terminal', exact: true }).click();
    await beside('Terminal').locator('[data-live=true]').waitFor();
    await story().waitFor({ state: 'hidden' });
    expect(await overflows()).toBe(false);
    await page.getByRole('button', { name: 'Story' }).click();
    await entry('unbreakable').waitFor();
  });
});

describe('the seat of a session', () => {
  const seat = (of: Page): Locator => of.getByRole('group', { name: 'Seat' });

  it('is asked for by another person, given, honoured by the terminal, and handed back', async () => {
    const { session, id } = await watch('chauffeur', 'seats');
    await seat(page).getByText('You drive').waitFor();
    const hers = await ground.openAs('ada');
    await hers.keyboard.press('o');
    await row(hers, session.slug).click();
    const terminal = hers.getByRole('complementary', { name: 'Terminal' }).getByRole('region');
    await terminal.and(hers.locator('[data-live=true]')).waitFor();
    // Who does not drive may look, and is told why that is all.
    await terminal.locator('.box').click();
    await hers.keyboard.type('x');
    await hers.getByRole('alert').getByText('seat').waitFor();
    await seat(hers).getByRole('button', { name: 'Take over' }).click();
    await seat(hers).getByText('waiting for the answer').waitFor();
    await seat(page).getByText('ada asks for the seat').waitFor();
    await seat(page).getByRole('button', { name: 'Keep it' }).click();
    await hers.getByRole('alert').getByText('denied').waitFor();
    await seat(hers).getByRole('button', { name: 'Take over' }).click();
    await seat(page).getByRole('button', { name: 'Give it' }).click();
    await seat(page).getByText('ada drives').waitFor();
    await seat(hers).getByText('You drive').waitFor();
    // Who gets the seat reads at once what happened, and finds it again later.
    const digest = (of: Page): Locator => of.getByRole('complementary', { name: 'Digest' });
    await digest(hers).getByText('since it began').waitFor();
    await entry('took the seat').waitFor();
    await hers.getByRole('button', { name: 'Terminal', exact: true }).click();
    await terminal.and(hers.locator('[data-live=true]')).waitFor();
    await terminal.locator('.box').click();
    await hers.keyboard.type('typed by ada');
    await hers.getByRole('button', { name: 'Digest', exact: true }).click();
    await digest(hers).getByText('since it began').waitFor();
    await shows(beside('Terminal').getByRole('region', { name: `Pane ${id}` }), 'typed by ada');

    await seat(hers).getByRole('button', { name: 'Hand over' }).click();
    const dialog = hers.getByRole('dialog', { name: 'Hand over' });
    const you = (await ground.hub.client.call('person:list', {})).user;
    await dialog.getByLabel('To').selectOption(you);
    await dialog.getByRole('button', { name: 'Hand over' }).click();
    await seat(page).getByText('You drive').waitFor();
    await digest(page).getByText('since it began').waitFor();
    await seat(page).getByRole('button', { name: 'Hand over' }).click();
    const mine = page.getByRole('dialog', { name: 'Hand over' });
    await mine.getByRole('button', { name: 'Hand over' }).click();
    await seat(page).getByText('nobody drives').waitFor();
    await seat(hers).getByRole('button', { name: 'Take the seat' }).click();
    await seat(page).getByText('ada drives').waitFor();
    await hers.context().close();
  }, 120_000);
});

it('offers whoever was invited what they may do, and nothing else', async () => {
  const { session, id } = await watch('shared', 'guests');
  const about = (of: Page): Locator => of.getByRole('complementary', { name: 'About' });
  const guest = await ground.openAs('eve');
  for (const [one, isOffered] of [
    [guest, false],
    [page, true],
  ] as const) {
    await one.getByRole('link', { name: 'Terminals' }).click();
    await one.getByRole('option', { name: id }).or(one.locator('#panes').getByText(id)).first().click();
    const tile = one.getByRole('main').getByRole('region', { name: `Pane ${id}` });
    await tile.first().waitFor();
    expect(await one.getByRole('button', { name: 'New pane' }).isVisible()).toBe(isOffered);
    expect(await one.getByRole('button', { name: 'End', exact: true }).first().isVisible()).toBe(isOffered);
    await one.getByRole('link', { name: 'Floor', exact: true }).click();
    await row(one, session.slug).click();
    await one.getByRole('button', { name: 'About', exact: true }).click();
    await about(one).getByText('driver', { exact: true }).waitFor();
    expect(await about(one).getByRole('region', { name: 'Archive' }).isVisible()).toBe(isOffered);
    expect(await one.getByRole('alert').count()).toBe(0);
  }
  await guest.getByRole('link', { name: 'Terminals' }).click();
  await guest.locator('#panes').focus();
  await guest.keyboard.press('c');
  expect(await guest.getByRole('dialog').count()).toBe(0);
  await guest.context().close();
}, 120_000);

describe('what is said to a session', () => {
  const box = (of: Page): Locator => of.getByRole('form', { name: 'Advise' });

  it('is advice of whoever does not drive, with how far it has got, and the words of the driver else', async () => {
    const composer = await FakeComposer.start(ground.hub, { name: 'listener' });
    const { session } = await composer.client(ground.hub).call('floor:join', { project: 'advised' });
    const hers = await ground.openAs('grace');
    for (const one of [page, hers]) {
      await one.keyboard.press('o');
      await row(one, session.slug).click();
    }
    await box(page).getByLabel('What you say').fill('Begin with the basket.');
    await box(page).getByRole('button', { name: 'Send' }).click();
    await box(page)
      .getByRole('status', { name: 'Delivery' })
      .getByText(/written|seen|uncertain/)
      .waitFor();
    await entry('Begin with the basket.').getByText('You').waitFor();
    expect(composer.submitted).toEqual(['Begin with the basket.']);
    await hers.keyboard.press('r');
    await hers.keyboard.type('The basket is a set.');
    await hers.keyboard.press('Control+Enter');
    const advice = hers.locator('.entry').filter({ hasText: 'The basket is a set.' });
    await advice.getByText('You').waitFor();
    await advice
      .getByLabel('Receipts')
      .getByText(/queued|written|seen|uncertain/)
      .waitFor();
    await entry('The basket is a set.').getByText('grace').waitFor();
    expect(await box(hers).getByLabel('What you say').inputValue()).toBe('');
    // It is nobody's but the driver's to type: the page offers nothing else.
    expect(await box(hers).getByLabel('As').locator('option').allTextContents()).toEqual([
      'advice to the agent',
      'advice to the driver',
    ]);
    await box(hers).getByLabel('As').selectOption('driver');
    await box(hers).getByLabel('What you say').fill('Ask it for the tests, too.');
    await box(hers).getByRole('button', { name: 'Send' }).click();
    await entry('Ask it for the tests, too.').getByText('grace').waitFor();
    expect(await box(page).getByLabel('As').locator('option').allTextContents()).toEqual([
      'your prompt',
      'advice to the agent',
    ]);
    await hers.context().close();
  }, 60_000);
});

describe('a session of a hub that was killed', () => {
  it('is shown as it was, and goes on with the next hub without a reload, with what was captured meanwhile', async () => {
    delete ground.hub.env.POLY_PORT;
    await ground.hub.kill('SIGTERM');
    await ground.hub.start();
    await page.context().close();
    page = await ground.open();
    const { hook } = await watch('survivor', 'killed');
    await hook('UserPromptSubmit', { prompt: 'before' });
    await entry('before').waitFor();
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await entry('before').waitFor();
    // More than a page: nothing between what was known and what is new may be missing.
    const meanwhile = Array.from({ length: 90 }, (_, i) => `meanwhile ${i}`);
    for (const prompt of meanwhile) await hook('UserPromptSubmit', { prompt });
    await ground.hub.start();
    await entry('meanwhile 89').waitFor();
    await hook('Stop', { last_assistant_message: 'afterwards' });
    await entry('afterwards').waitFor();
    const texts = await story().locator('.entry .body').allTextContents();
    expect(texts).toEqual(['before', ...meanwhile, 'afterwards']);
    await page.keyboard.press('u');
    await row(page, '91 prompts').waitFor();
  }, 90_000);
});
