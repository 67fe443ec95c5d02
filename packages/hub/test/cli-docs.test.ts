import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

const ground = new CliGround();
beforeAll(() => ground.ok('up'), 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

const page = readFileSync(join(import.meta.dirname, '../../../docs/extensions.md'), 'utf8');

/** Each extension of the page with everything that stands below it, up to the next heading. */
const examples = [...page.matchAll(/```ts\n(.*?)```\n(.*?)(?=\n## |$)/gs)].map(
  ([, code = '', below = '']) => ({
    title: /name = '(.*)'/.exec(code)?.[1] ?? '',
    code,
    transcripts: [...below.matchAll(/```\n(\$ poly .*?)```/gs)].map(([, text = '']) => text),
  }),
);

describe('docs/extensions.md', () => {
  it.each(examples)('shows what the commands of $title print', async ({ title, code, transcripts }) => {
    const folder = join(ground.home, title);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: title, main: 'index.ts' }));
    writeFileSync(join(folder, 'index.ts'), code);
    await ground.ok('ext', 'install', folder);
    expect(transcripts).not.toEqual([]);
    for (const transcript of transcripts) {
      let printed = '';
      for (const [line, words = ''] of transcript.matchAll(/^\$ poly (.*)\n/gm)) {
        const { stdout, stderr } = await ground.run(words.split(' '));
        printed += line + stdout + stderr;
      }
      expect(printed).toBe(transcript);
    }
    await ground.ok('ext', 'remove', title);
  });
});
