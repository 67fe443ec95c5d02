import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { register } from '../../hub/test/mail-ground.ts';
import { look, onPages, type WebGround } from './web-ground.ts';

let ground: WebGround;
let page: Page;
onPages((opened, started) => {
  page = opened;
  ground = started;
});

const views = ['#/', '#/floor', '#/floor/search', '#/floor/decisions', '#/floor/people'].concat(
  ...['agents', 'mail', 'tasks', 'contracts'].map((view) => `#/${view}`),
);

/** What somebody who hears the page, or speaks to it, would stumble over. */
const flaws = (): Promise<readonly string[]> =>
  page.evaluate(() => {
    const seen = (selector: string): Element[] =>
      [...document.querySelectorAll(selector)].filter((one) =>
        one.checkVisibility({ visibilityProperty: true }),
      );
    const text = (one: Element): string => (one.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
    const mains = seen('main').length;
    const unnamed = seen('button, input, select, textarea').filter(
      (one) =>
        !text(one) &&
        !one.ariaLabel &&
        !(one as HTMLInputElement).labels?.length &&
        !one.hasAttribute('aria-labelledby'),
    );
    // Whoever speaks says what stands on a button.
    const misnamed = seen('button[aria-label]').filter(
      (one) => /\w/.test(text(one)) && !one.ariaLabel?.toLowerCase().includes(text(one).toLowerCase()),
    );
    const unspeakable = seen('label').filter(
      (one) => !/\w{3}/.test(text(one)) && !one.querySelector('[aria-label]'),
    );
    const twice = seen('[role=option]').filter((one) =>
      [...one.querySelectorAll('[title]:empty')].some(
        (mark) => mark.ariaHidden !== 'true' && text(one).includes(mark.getAttribute('title') ?? ''),
      ),
    );
    const strange = seen('[role=listbox] :is(h1, h2, h3, h4, a, button, input)');
    const lost = seen('[aria-activedescendant]').filter(
      (one) => !document.getElementById(one.getAttribute('aria-activedescendant') ?? ''),
    );
    return [
      ...(mains === 1 ? [] : [`${mains} main parts`]),
      ...unnamed.map((one) => `without a name: ${one.outerHTML}`),
      ...misnamed.map((one) => `called something else: ${one.outerHTML}`),
      ...unspeakable.map((one) => `named by signs alone: ${one.outerHTML}`),
      ...twice.map((one) => `says the same twice: ${one.outerHTML}`),
      ...strange.map((one) => `in a list of options: ${one.outerHTML}`),
      ...lost.map((one) => `points to nobody: ${one.outerHTML.slice(0, 200)}`),
    ];
  });

describe('every view', () => {
  it.each([
    ['a desk', 1280],
    ['a phone', 390],
  ])(
    'on %s has one main part, lists of options alone, and names for all that can be pressed',
    async (_, width) => {
      const { client } = ground.hub;
      const project = `heard-${width}`;
      const ada = await register(ground.hub, `ada-${width}`, { project });
      await ada.call('mail:send', { to_agent_name: 'user', subject: 'A word', body: 'Well?' });
      await ada.call('task:add', { title: 'Listen' });
      await ada.call('contract:register', { name: `c-${width}`, schema: { type: 'object' } });
      const paneId = await ground.pane('spoken', 'echo word; exec cat');
      await client.call('floor:join', { project, agent: `ada-${width}`, pane: paneId });
      await page.setViewportSize({ width, height: 800 });
      for (const view of views) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, view);
        // What is shown has come.
        await page
          .locator('[role=option], .card, .empty, .teaching')
          .filter({ visible: true })
          .first()
          .waitFor();
        expect(await flaws(), view).toEqual([]);
      }
      await page.keyboard.press('Escape');
      await page.evaluate(() => {
        location.hash = '#/';
      });
      const shown = await look(page, 'spoken');
      await shown.getByRole('button', { name: 'Search' }).click();
      expect(await flaws()).toEqual([]);
    },
  );
});
