import type { PolyError } from '@polyphony/protocol';
import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { ForeignGround } from '../../hub/test/foreign-ground.ts';
import { until } from '../../hub/test/test-hub.ts';
import { hold, look, onPages, row, shows, stopClock, tile, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});

const panes = () => ground.hub.client.call('pane:list', {});
const selected = () => page.locator('[role=option][aria-selected=true]');

describe('the list', () => {
  it('says of each pane how it is, what it runs, how old it is and how much it has printed', async () => {
    await ground.pane('counter', 'seq 1 41; echo end; exec cat');
    await row(page, 'counter').getByText('running').waitFor();
    await row(page, 'counter').getByText('seq 1 41; echo end; exec cat').waitFor();
    await row(page, 'counter').getByText('42 lines').waitFor();
    await row(page, 'counter')
      .getByText(/^\d+[sm]$/)
      .waitFor();
  });

  it('shows what comes, changes and goes elsewhere', async () => {
    const id = await ground.pane('passing', 'read line; exit 0');
    await row(page, 'passing').getByText('running').waitFor();
    await ground.hub.client.call('pane:write', { paneId: id, data: '', enter: true });
    await row(page, 'passing').getByText('ended: 0').waitFor();
    await ground.hub.client.call('pane:close', { paneId: id });
    await row(page, 'passing').waitFor({ state: 'detached' });
  });

  it('takes a pane that is removed off without asking for everything again', async () => {
    const id = await ground.pane('doomed', 'echo here; exec cat');
    await shows(await look(page, 'doomed'), 'here');
    await page.route(/\/action\/pane%3Alist$/, (route) => route.abort());
    await ground.hub.client.call('pane:close', { paneId: id });
    await row(page, 'doomed').waitFor({ state: 'detached' });
    await tile(page, 'doomed').waitFor({ state: 'detached' });
  });

  it('shows what an agent says it is doing', async () => {
    const id = await ground.pane('agent');
    await ground.hub.client.call('agent:set-state', { paneId: id, status: 'blocked' });
    await row(page, 'agent').getByText('agent blocked').waitFor();
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('shows an agent that runs in no pane, where it is found and that it waits, and goes to it by n', async () => {
    await using foreign = ForeignGround.beside(ground.hub);
    const { at, pane, as } = foreign.inTmux();
    const id = await foreign.adoptOne(at);
    await as(id).hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } });
    const shown = page.locator(`#agent-${id}`);
    await shown.getByText(/^agent blocked \d+s$/).waitFor();
    await shown.getByText('permission: Bash rm -rf build').waitFor();
    await shown.getByText(`tmux ${pane} of ${foreign.socket}`).waitFor();
    // However long the path, it stays in its row, and can be read in full by pointing at it.
    expect(await shown.evaluate((row) => row.scrollWidth - row.clientWidth)).toBe(0);
    expect(await shown.getByTitle(`tmux ${pane} of ${foreign.socket}`).count()).toBe(1);
    await page.locator('header.bar').getByText('1 agent needs you').waitFor();
    await page.locator('#panes').focus();
    await page.keyboard.press('n');
    await page.locator(`#agent-${id}:focus`).waitFor();
    await foreign.hub.client.call('agent:release', { paneId: id });
    await shown.waitFor({ state: 'detached' });
  });

  it('says what an agent waits for, goes to it by n, and no longer counts what was looked at', async () => {
    const ids = [await ground.pane('first asker'), await ground.pane('second asker')];
    const tell = (paneId: string | undefined, status: 'running' | 'idle' | 'blocked') =>
      ground.hub.client.call('agent:set-state', { paneId: paneId ?? '', status, runtime: 'other' });
    for (const id of ids) await tell(id, 'blocked');
    const header = page.locator('header.bar');
    await header.getByText('2 agents need you').waitFor();
    await page.waitForFunction(() => document.title === '(2) Polyphony');
    await page.locator('#panes').focus();
    await page.keyboard.press('n');
    await tile(page, 'first asker').waitFor();
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('n');
    await tile(page, 'second asker').waitFor();
    // Its turn ends while it is open here, and the other's while nobody looks.
    for (const id of ids) await tell(id, 'running');
    for (const id of ids) await tell(id, 'idle');
    await row(page, 'second asker')
      .getByText(/agent idle \d+s/)
      .waitFor();
    await row(page, 'first asker')
      .getByText(/agent done \d+s/)
      .waitFor();
    await header.getByText('1 agent needs you').click();
    await tile(page, 'first asker').waitFor();
    await row(page, 'first asker')
      .getByText(/agent idle \d+s/)
      .waitFor();
    await header.getByText('needs you').waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.title === 'Polyphony');
  });

  it('calls a pane by the name that was chosen for it, and says nothing twice', async () => {
    const start = (more: object) =>
      ground.hub.client.call('pane:new', { argv: ['sh', '-c', 'exec cat'], backend: 'pty', ...more });
    const lines = (id: string) =>
      page.locator(`[id="pane-${id}"]`).locator('.title, .command').allInnerTexts();
    await start({ id: 'api.1' });
    await start({ id: 'pty-mine', title: 'web server' });
    const { id: untitled } = await start({});
    const { id: titled } = await start({ title: 'shop shell' });
    await row(page, 'shop shell').waitFor();
    expect(await lines('api.1')).toEqual(['api.1', 'exec cat']);
    expect(await lines('pty-mine')).toEqual(['pty-mine web server', 'exec cat']);
    expect(await lines(untitled)).toEqual(['exec cat']);
    expect(await lines(titled)).toEqual(['shop shell', 'exec cat']);
    expect(await row(page, 'api.1').getByText('api.1').count()).toBe(1);
    await row(page, untitled).waitFor();
  });

  it.each([1280, 390])(
    'where there is none yet says how to begin, before everything else, %i pixels wide',
    async (width) => {
      await page.setViewportSize({ width, height: 800 });
      const teaching = page.getByRole('region', { name: 'No panes yet' });
      await teaching.getByText('poly run -- top').waitFor();
      expect((await teaching.boundingBox())?.y).toBeLessThan(500);
      await page.getByRole('button', { name: 'New pane' }).click();
      await page.getByLabel('Command').fill('cat');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('region', { name: 'Pane cat' }).waitFor();
      await teaching.waitFor({ state: 'detached' });
    },
  );

  it('says that nothing fits where the first one would stand', async () => {
    await ground.pane('one');
    await row(page, 'one').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nothing like it');
    const said = await page.getByText('No pane fits.').boundingBox();
    expect(said?.y).toBeLessThan(150);
  });
});

describe('the keyboard', () => {
  it('moves through the list, opens a pane, types into it and comes back', async () => {
    for (const name of ['alpha', 'beta', 'gamma']) await ground.pane(name, `echo I am ${name}; exec cat`);
    await row(page, 'gamma').waitFor();
    await selected().filter({ hasText: 'alpha' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    await selected().filter({ hasText: 'beta' }).waitFor();
    await page.keyboard.press('G');
    await selected().filter({ hasText: 'gamma' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('Enter');
    await shows(tile(page, 'alpha'), 'I am alpha');
    await page.keyboard.type('jk?/x');
    await shows(tile(page, 'alpha'), 'jk?/x');
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('j');
    await selected().filter({ hasText: 'beta' }).waitFor();
    expect(await page.locator(':focus').getAttribute('role')).toBe('listbox');
  });

  it('filters with /, and Esc shows all again', async () => {
    await ground.pane('apples');
    await ground.pane('pears');
    await row(page, 'pears').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('pear');
    await row(page, 'apples').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await tile(page, 'pears').waitFor();
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await row(page, 'apples').waitFor();
  });

  it('has every pane that is opened in it, also one that the filter would hide, and ends that one', async () => {
    await ground.pane('apples');
    await row(page, 'apples').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('apple');
    await page.keyboard.press('Enter');
    await page.keyboard.press('c');
    await page.getByLabel('Command').fill('cat');
    await page.getByLabel('Title').fill('pears');
    await page.keyboard.press('Enter');
    await tile(page, 'pears').waitFor();
    await row(page, 'pears').and(page.locator('[aria-selected=true]')).waitFor();
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('x');
    await page.getByRole('dialog').getByText('pears').waitFor();
    await page.keyboard.press('Escape');
  });

  it('filters by the words that stand in it', async () => {
    await ground.pane('gone', 'exit 3');
    const paneId = await ground.pane('asking');
    await row(page, 'gone').getByText('ended: 3').waitFor();
    await ground.hub.client.call('agent:set-state', { paneId, status: 'blocked' });
    await row(page, 'asking').getByText('agent blocked').waitFor();
    const filter = page.getByRole('searchbox', { name: 'Filter the list' });
    await filter.fill('ended');
    await row(page, 'asking').waitFor({ state: 'detached' });
    await row(page, 'gone').waitFor();
    await filter.fill('agent blocked');
    await row(page, 'gone').waitFor({ state: 'detached' });
    await row(page, 'asking').waitFor();
  });

  it('stays where somebody has gone while a terminal was still to come', async () => {
    await ground.pane('slow', 'echo here; exec cat');
    const arrived = Promise.withResolvers<void>();
    await page
      .context()
      .route('**/assets/pane-terminal*', (route) => arrived.promise.then(() => route.continue()));
    await page.reload();
    await row(page, 'slow').click();
    await tile(page, 'slow').waitFor();
    await page.keyboard.press('Control+Shift+L');
    arrived.resolve();
    await shows(tile(page, 'slow'), 'here');
    await page.keyboard.press('/');
    await page.keyboard.type('none');
    await row(page, 'slow').waitFor({ state: 'detached' });
  });

  it.each([
    [390, 844],
    [1280, 600],
  ])('is explained from the beginning, %i by %i pixels', async (width, height) => {
    await page.setViewportSize({ width, height });
    await page.getByRole('button', { name: 'Help' }).click();
    const title = page.getByRole('dialog').getByRole('heading', { name: 'Keys' });
    await title.waitFor();
    expect((await title.boundingBox())?.y).toBeGreaterThan(0);
    await page.keyboard.press('End');
    await until(async () => ((await title.boundingBox())?.y ?? 0) < 0);
    await page.keyboard.press('Escape');
  });

  it('explains itself with ?', async () => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keys' });
    await help.getByText('leave the terminal for the list').waitFor();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
  });

  it('changes the number of tiles with 1, 2 and 4', async () => {
    await ground.pane('one of them');
    await row(page, 'one of them').waitFor();
    for (const count of ['4', '2', '1']) {
      await page.keyboard.press(count);
      await page.locator(`.tiles[data-count="${count}"]`).waitFor();
      expect(await page.locator('.tile').count()).toBe(Number(count));
    }
  });
});

describe('a tile', () => {
  it('says its size whole, or not at all', async () => {
    await ground.pane('a title', 'exec cat', { cols: 132, rows: 50 });
    const shown = await look(page, 'a title');
    /** How much of it is to be seen. */
    const seen = () =>
      shown.locator('.size').evaluate((size) => {
        const range = document.createRange();
        range.selectNodeContents(size);
        const [box, text] = [size.getBoundingClientRect(), range.getBoundingClientRect()];
        if (text.top >= box.bottom) return 'nothing';
        return text.right <= box.right + 1 ? 'everything' : 'a part';
      });
    await shown.getByText('132×50').waitFor();
    expect(await seen()).toBe('everything');
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('4');
    const widths = [1400, 1300, 1250, 1200, 1150, 1100];
    const parts: string[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      parts.push(await seen());
    }
    expect(parts).not.toContain('a part');
    expect(parts).toContain('nothing');
  });

  it.each([undefined, 'chosen-name'])('shortens a long title before the id %s', async (chosen) => {
    const id = await ground.pane('long '.repeat(39), 'exec cat', chosen === undefined ? {} : { id: chosen });
    await page.keyboard.press('4');
    await row(page, id).click();
    const header = page.locator('.tile > header');
    const name = await header.getByText(id, { exact: true }).boundingBox();
    const tools = await header.locator('.tools').boundingBox();
    const whole = await header.getByText(id, { exact: true }).evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getBoundingClientRect().width;
    });
    expect(Math.ceil(name?.width ?? 0)).toBeGreaterThanOrEqual(Math.floor(whole));
    expect((name?.x ?? 0) + whole).toBeLessThanOrEqual(tools?.x ?? 0);
  });
});

describe('panes', () => {
  it('are started from the page, and typed into at once', async () => {
    await page.keyboard.press('c');
    await page.keyboard.type('echo from the page; cat');
    await page.getByLabel('Folder').fill('/tmp');
    await page.keyboard.press('Enter');
    const shown = tile(page, 'echo from the page; cat');
    await shows(shown, 'from the page');
    const [pane] = await panes();
    expect(pane).toMatchObject({ argv: ['sh', '-c', 'echo from the page; cat'], status: 'running' });
    await page.keyboard.type('typed at once');
    await shows(shown, 'typed at once');
  });

  it('have the focus once they are started, also when the list has them before the dialog knows', async () => {
    await page.route(/\/action\/pane%3Anew$/, async (route) => {
      const response = await route.fetch();
      await row(page, 'early').waitFor();
      await route.fulfill({ response });
    });
    await page.keyboard.press('c');
    await page.keyboard.type('cat');
    await page.getByLabel('Title').fill('early');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tile(page, 'early').and(page.locator('[data-live=true]')).waitFor();
    await page.keyboard.type('heard');
    await shows(tile(page, 'early'), 'heard');
  });

  it('get the name that the user gives them', async () => {
    const start = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'New pane' }).click();
      await page.getByLabel('Command').fill('cat');
      await page.getByLabel('Name').fill(name);
      await page.keyboard.press('Enter');
    };
    await start('my-server.1');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await panes()).toMatchObject([{ id: 'my-server.1' }]);
    for (const [name, problem] of [
      ['my-server.1', 'there is a pane "my-server.1" already'],
      ['no name at all', 'must be 1-64 letters'],
    ] as const) {
      await start(name);
      await page.getByRole('dialog').getByRole('alert').getByText(problem).waitFor();
      await page.keyboard.press('Escape');
    }
    expect(await panes()).toHaveLength(1);
  });

  it('that cannot be started say why', async () => {
    await page.keyboard.press('c');
    await page.keyboard.type('no-such-program-anywhere');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('no-such-program-anywhere').waitFor();
    expect(await panes()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('are called in the question as they are in the list', async () => {
    await ground.pane('the shop', 'exec cat', { id: 'web' });
    await row(page, 'web').waitFor();
    await page.keyboard.press('x');
    const asked = page.getByRole('dialog').getByRole('paragraph').first();
    expect(await asked.textContent()).toBe('web the shop');
    await page.keyboard.press('Escape');
  });

  it('are ended only after a question', async () => {
    const id = await ground.pane('victim', 'echo last words; exec cat');
    const shown = await look(page, 'victim');
    await shows(shown, 'last words');
    await shown.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByText('everything it started').waitFor();
    await page.keyboard.press('Escape');
    expect(await panes()).toMatchObject([{ id, status: 'running' }]);
    await page.keyboard.press('Control+Shift+L');
    await page.keyboard.press('x');
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(page, 'victim').getByText('ended').waitFor();
    await shows(shown, 'last words');
    await page.getByRole('listbox').focus();
    await page.keyboard.press('x');
    await page.getByRole('dialog').getByRole('button', { name: 'Forget it' }).click();
    await row(page, 'victim').waitFor({ state: 'detached' });
    expect(await panes()).toEqual([]);
  });
});

describe('a button that is pressed twice', () => {
  it('starts one pane', async () => {
    const held = await hold(page, 'pane:new');
    await page.keyboard.press('c');
    await page.keyboard.type('cat');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    held.go();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(held.asked()).toBe(1);
    expect(await panes()).toHaveLength(1);
  });

  it('ends one pane, and complains of nothing', async () => {
    await ground.pane('victim');
    await ground.pane('witness');
    await row(page, 'witness').waitFor();
    const held = await hold(page, 'pane:close');
    await page.keyboard.press('x');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Forget').check();
    const button = dialog.getByRole('button', { name: 'End it' });
    await button.evaluate((one: HTMLElement) => {
      one.click();
      one.click();
    });
    held.go();
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'victim').waitFor({ state: 'detached' });
    expect(held.asked()).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await panes()).toMatchObject([{ title: 'witness' }]);
  });

  it('fits a pane once', async () => {
    await ground.pane('fitting', 'exec cat', { cols: 132, rows: 50 });
    const shown = await look(page, 'fitting');
    const held = await hold(page, 'pane:resize');
    await shown.getByRole('button', { name: 'Fit' }).dblclick();
    held.go();
    await shown.getByText('132×50').waitFor({ state: 'detached' });
    expect(held.asked()).toBe(1);
  });

  it('decides once what waits for approval, also when the other one is pressed', async () => {
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const paneId = await ground.pane('worker');
    const asked = asker.call('pane:write', { paneId, data: 'x' });
    const region = page.getByRole('region', { name: 'Waiting for your approval' });
    await region.waitFor();
    const held = await hold(page, 'approval:resolve');
    await region.getByRole('listitem').evaluate((item) => {
      const [deny, allow] = item.querySelectorAll('button');
      for (const one of [allow, allow, deny]) one?.click();
    });
    held.go();
    await asked;
    await region.waitFor({ state: 'detached' });
    expect(held.asked()).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe('what moves up to where something was decided', () => {
  it('is not decided by the second half of a double click', async () => {
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const paneId = await ground.pane('worker', 'stty -echo; exec cat');
    const asked = ['one', 'two'].map((data) => asker.call('pane:write', { paneId, data, enter: true }));
    const items = page.getByRole('region', { name: 'Waiting for your approval' }).getByRole('listitem');
    await page.getByRole('button', { name: '2 to approve' }).waitFor();
    await stopClock(page);
    const first = items.first().getByRole('button', { name: 'Allow' });
    const { x, y, width, height } = (await first.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const click = () => page.mouse.click(x + width / 2, y + height / 2);
    const held = await hold(page, 'approval:resolve');
    held.go();
    await click();
    await Promise.race(asked);
    await page.getByRole('button', { name: '1 to approve' }).waitFor();
    await click();
    expect(await first.isEnabled()).toBe(true);
    expect(held.asked()).toBe(1);
    await page.clock.runFor(1_000);
    await click();
    await Promise.all(asked);
    await items.waitFor({ state: 'detached' });
    expect(held.asked()).toBe(2);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe('what comes to be approved', () => {
  it('takes no click that was meant for what stood there before, and turns none to another row', async () => {
    for (const name of ['one', 'two', 'three']) await ground.pane(name);
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const paneId = await ground.pane('worker', 'stty -echo; exec cat');
    await row(page, 'worker').waitFor();
    await stopClock(page);
    const held = await hold(page, 'approval:resolve');
    held.go();
    const asked = asker.call('pane:write', { paneId, data: 'one', enter: true });
    const allow = page.getByRole('button', { name: 'Allow' });
    await allow.waitFor();
    const click = async (target: Locator): Promise<void> => {
      const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.click(x + width / 2, y + height / 2);
    };
    await click(allow);
    await click(row(page, 'two'));
    await page.clock.runFor(1_000);
    expect(held.asked()).toBe(0);
    expect(await tile(page, 'two').count()).toBe(0);
    await click(row(page, 'two'));
    await tile(page, 'two').waitFor();
    await click(allow);
    await asked;
    expect(held.asked()).toBe(1);
  });
});

describe('a message of what went wrong', () => {
  /** A pane that cannot be fitted. */
  const fail = async (): Promise<void> => {
    await page.getByRole('listbox').focus();
    await page.keyboard.press('f');
    await page.getByRole('alert').getByText('did not answer').waitFor();
  };
  beforeEach(async () => {
    await page.clock.install();
    await ground.pane('stiff');
    await look(page, 'stiff');
    await page.route('**/action/pane%3Aresize', (route) => route.abort());
  });

  it('is taken away by its button, by Esc, and by itself', async () => {
    const gone = () => page.getByRole('alert').waitFor({ state: 'detached' });
    await fail();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await gone();
    await fail();
    await page.keyboard.press('Escape');
    await gone();
    await fail();
    await page.clock.fastForward(15_000);
    await gone();
  });

  it('stands in the dialog that it is of, and nowhere else', async () => {
    await page.route('**/action/pane%3Aclose', (route) => route.abort());
    await fail();
    await page.keyboard.press('x');
    const dialog = page.getByRole('dialog', { name: 'End this pane?' });
    await dialog.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await dialog.getByRole('button', { name: 'End it' }).click();
    await dialog.getByRole('alert').getByText('did not answer').waitFor();
    await page.clock.fastForward(15_000);
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe('what waits for approval', () => {
  it('is shown in full, and decided by the user', async () => {
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const worker = await ground.pane('worker');
    const type = (data: string): Promise<unknown> =>
      asker.call('pane:write', { paneId: worker, data, enter: true });
    const region = page.getByRole('region', { name: 'Waiting for your approval' });

    const denied = type('rm -rf / \u202e<b>nicely</b>').catch((error: PolyError) => error.code);
    await region.getByText('rm -rf / \\u202e<b>nicely</b>').waitFor();
    await region.getByText('agent:asker').waitFor();
    // Who asks, then what for, then why.
    expect(await region.getByRole('listitem').textContent()).toMatch(
      /^agent:asker asks: write .*panepty_.*textrm -rf.*because.+DenyAllow$/s,
    );
    const colour = (name: string) =>
      region.getByRole('button', { name }).evaluate((one) => getComputedStyle(one).backgroundColor);
    expect(await colour('Allow')).toBe(await colour('Deny'));
    expect(await page.title()).toBe('(1) Polyphony');
    await region.getByRole('button', { name: 'Deny' }).click();
    expect(await denied).toBe('forbidden');
    await region.waitFor({ state: 'detached' });

    const allowed = type('let me in');
    await page.getByRole('button', { name: '1 to approve' }).click();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await allowed;
    await region.waitFor({ state: 'detached' });
    await shows(await look(page, 'worker'), 'let me in');
  });
});

describe('colours', () => {
  it.each(['dark', 'light'] as const)('change with every press where the system is %s', async (system) => {
    await page.emulateMedia({ colorScheme: system });
    const other = system === 'dark' ? 'light' : 'dark';
    const shows = (scheme: string) => page.locator(`html[data-scheme=${scheme}]`).waitFor();
    await shows(system);
    await page.keyboard.press('t');
    await shows(other);
    await page.keyboard.press('t');
    await shows(system);
    // Whoever is back at the system's follows it again.
    await page.emulateMedia({ colorScheme: other });
    await shows(other);
  });

  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  it('are the system’s until the user chooses', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(async () => (await background()) === 'rgb(16, 20, 28)');
    await page.emulateMedia({ colorScheme: 'light' });
    await until(async () => (await background()) === 'rgb(243, 245, 248)');
    await page.keyboard.press('t');
    await until(async () => (await background()) === 'rgb(16, 20, 28)');
    await page.reload();
    await page.locator('.connection[data-state=live]').waitFor();
    expect(await background()).toBe('rgb(16, 20, 28)');
  });
});
