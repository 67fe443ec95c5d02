import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { look, onGround, row, shows, type WebGround } from './web-ground.ts';

let ground: WebGround;
onGround((started) => {
  ground = started;
});

describe('a page whose hub is killed', () => {
  it('says so, finds the next one by itself, and shows every byte once', async () => {
    // A hub on a port of its own choice takes the same one again.
    delete ground.hub.env.POLY_PORT;
    await ground.hub.kill('SIGTERM');
    await ground.hub.start();
    const folder = ground.hub.home;
    const script = `i=0; while [ ! -e ${folder}/stop ]; do i=$((i+1)); echo "line $i."; sleep 0.1; done; echo "$i lines in all"; exec cat`;
    await ground.pane('ticking', script, { rows: 1000 });
    const page = await ground.open();
    const shown = await look(page, 'ticking');
    await shows(shown, 'line 5.');
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await page.keyboard.type('x');
    await page.getByRole('alert').getByText('not sent').waitFor();
    const later = await ground.hub.start().then(() => ground.pane('later'));
    await page.locator('.connection[data-state=live]').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await row(page, 'later').waitFor();
    await ground.hub.client.call('pane:close', { paneId: later });
    await writeFile(`${folder}/stop`, '');
    await shows(shown, 'lines in all');
    const text = (await shown.locator('.xterm-rows > div').allTextContents()).join('\n');
    const numbers = [...text.matchAll(/line (\d+)\./g)].map(([, n]) => Number(n));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(text).toContain(`${numbers.length} lines in all`);
    await page.keyboard.type('typed after all');
    await shows(shown, 'typed after all');
  }, 60_000);

  it('says that nobody may have taken what was typed as it went', async () => {
    await ground.pane('typed at', 'echo ready; exec cat');
    const page = await ground.open();
    await shows(await look(page, 'typed at'), 'ready');
    process.kill(ground.hub.discovery.pid, 'SIGSTOP');
    await page.keyboard.type('x');
    await ground.hub.kill('SIGKILL');
    await page.getByRole('alert').getByText('perhaps not sent').waitFor();
    await ground.hub.start();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('says in a tile that is opened meanwhile what it waits for, and then shows it', async () => {
    const id = await ground.pane('unseen', 'echo was here all along; exec cat');
    const page = await ground.open();
    await row(page, 'unseen').waitFor();
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await row(page, 'unseen').click();
    await page.getByText('The hub is away: what the pane printed comes with it.').waitFor();
    await ground.hub.start();
    await page.getByText('was here all along').last().waitFor();
    await page.getByText('The hub is away').waitFor({ state: 'detached' });
    await page.context().close();
    await ground.hub.client.call('pane:close', { paneId: id });
  }, 60_000);

  it('shows a terminal also where it could not load what draws one', async () => {
    const id = await ground.pane('undrawn', 'echo drawn in the end; exec cat');
    const page = await ground.open();
    await page.route('**/pane-terminal-*.js', (route) => route.abort());
    await page.reload();
    await row(page, 'undrawn').waitFor();
    await ground.hub.kill('SIGKILL');
    await page.getByRole('status').getByText('hub away').waitFor();
    await row(page, 'undrawn').click();
    await page.getByText('The hub is away: what the pane printed comes with it.').waitFor();
    await page.unroute('**/pane-terminal-*.js');
    await ground.hub.start();
    await page.getByText('drawn in the end').last().waitFor();
    await page.context().close();
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('lets nobody decide what cannot be told to anybody', async () => {
    const asker = ground.hub.as(await ground.hub.paneToken('asker'));
    const asked = ground.pane('worker').then((paneId) => asker.call('pane:write', { paneId, data: 'x' }));
    const page = await ground.open();
    const region = page.getByRole('region', { name: 'Waiting for your approval' });
    // It takes no click in the moment in which it comes.
    await region.getByRole('button', { name: 'Allow', disabled: false }).waitFor();
    const lost = expect(asked).rejects.toThrow();
    await ground.hub.kill('SIGKILL');
    await lost;
    await region.getByRole('button', { name: 'Allow', disabled: true }).waitFor();
    await region.getByRole('button', { name: 'Deny', disabled: true }).waitFor();
    await ground.hub.start();
    await region.waitFor({ state: 'detached' });
  }, 60_000);

  it('keeps its key and its tiles over a reload', async () => {
    await ground.pane('steady', 'echo still here; exec cat');
    const page = await ground.open();
    await look(page, 'steady');
    await ground.hub.kill('SIGKILL');
    await ground.hub.start();
    await page.reload();
    await page.locator('.tile[data-live=true]').waitFor();
    await page.getByText('still here').first().waitFor();
  }, 60_000);
});
