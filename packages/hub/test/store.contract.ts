import { describe, expect, test } from 'vitest';
import type { Migration } from '../src/store/migrations.ts';
import type { NewEvent, Store, StoredEvent } from '../src/store/store.ts';

/** Opens an empty store whose schema has the table of these tests; disposed with everything it made. */
export type OpenStore = (options?: { readonly now?: () => number }) => Promise<Store>;

/** Added to the schema by whoever runs this suite. */
export const notes: Omit<Migration, 'id'> = {
  name: 'notes',
  statements: [
    'CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT, number INTEGER, bytes BLOB) STRICT',
    'CREATE TABLE letters (number INTEGER PRIMARY KEY, title TEXT, text TEXT) STRICT',
  ],
  searches: [{ name: 'letters_search', table: 'letters', key: 'number', columns: ['title', 'text'] }],
};

export const event = (name: string, payload: unknown = null): NewEvent => ({
  name,
  payload,
  source: 'user:test',
  occurredAt: 1,
});
const note = (id: string, text: string | null = null) => ({
  sql: 'INSERT INTO notes (id, text) VALUES (?, ?)',
  values: [id, text],
});
const seqs = (events: readonly StoredEvent[]): readonly number[] => events.map(({ seq }) => seq);
const range = (count: number, from = 0): readonly number[] =>
  Array.from({ length: count }, (_, i) => from + i);

/** What every store owes, whatever database is behind it. */
export function storeContract(name: string, open: OpenStore): void {
  describe(name, () => {
    test('events get one seq after the other, in the order they were committed', async () => {
      await using store = await open();
      expect(await store.bounds()).toEqual({ first: 1, last: 0 });
      const made = await Promise.all(
        range(120).map((i) => store.commit({ events: [event(`n${i}`), event('x')] })),
      );
      expect(made.flatMap(({ events }) => seqs(events))).toEqual(range(240, 1));
      expect(await store.bounds()).toEqual({ first: 1, last: 240 });
      const read = await store.events({ after: 0, limit: 1000 });
      expect(read).toEqual(made.flatMap(({ events }) => events));
    });

    test('an event is read as it was told, and stamped with the time it came', async () => {
      await using store = await open({ now: () => 1234 });
      const told = {
        name: 'a:b',
        payload: { deep: [1, null, 'é'] },
        source: 'agent:x',
        pane: 'pty_1',
        occurredAt: 5,
      };
      const { events } = await store.commit({ events: [told, { ...told, pane: null, payload: undefined }] });
      const wanted = { ...told, seq: 1, receivedAt: 1234 };
      expect(events).toEqual([wanted, { ...wanted, seq: 2, pane: null, payload: null }]);
      expect(await store.events({ after: 0, limit: 10 })).toEqual(events);
    });

    test('a read takes a page after a seq, of the names asked for', async () => {
      await using store = await open();
      const names = ['pane:new', 'pane:exited', 'panel:x', 'mail:new', 'pane', 'pane:a:b'];
      await store.commit({ events: names.map((each) => event(each)) });
      const read = (after: number, limit: number, ...wanted: string[]): Promise<readonly number[]> =>
        store.events({ after, limit, names: wanted }).then(seqs);
      expect(seqs(await store.events({ after: 2, limit: 3 }))).toEqual([3, 4, 5]);
      expect(await read(0, 9, '*')).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await read(0, 9, 'pane:*')).toEqual([1, 2, 6]);
      expect(await read(1, 1, 'pane:*', 'mail:new')).toEqual([2]);
      expect(await read(0, 9, 'mail:new', 'pane')).toEqual([4, 5]);
      expect(await read(0, 9)).toEqual([]);
      expect(await read(6, 9, '*')).toEqual([]);
      expect(await read(0, 0, '*')).toEqual([]);
    });

    test('a rare name is found behind thousands of others', async () => {
      await using store = await open();
      await store.commit({
        events: [...range(12_000).map(() => event('common')), event('rare'), event('common')],
      });
      expect(seqs(await store.events({ after: 0, limit: 5, names: ['rare'] }))).toEqual([12_001]);
    });

    test('a batch happens as a whole or not at all, and its failure harms no other', async () => {
      await using store = await open();
      const batches = range(30).map((i) => ({
        statements: i % 3 === 0 ? [note(`n${i}`), note(`n${i}`)] : [note(`n${i}`)],
        events: [event(`e${i}`)],
      }));
      const outcomes = await Promise.allSettled(batches.map((batch) => store.commit(batch)));
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(range(30).map((i) => i % 3 !== 0));
      expect(outcomes[0]).toMatchObject({ reason: { code: 'refused', statement: 1 } });
      expect(await store.query('SELECT count(*) AS count FROM notes')).toEqual([{ count: 20 }]);
      const events = await store.events({ after: 0, limit: 100 });
      expect(events.map(({ name: told }) => told)).toEqual(
        range(30)
          .filter((i) => i % 3)
          .map((i) => `e${i}`),
      );
      expect(seqs(events)).toEqual(range(20, 1));
    });

    test('a statement that changes another number of rows than expected undoes its batch', async () => {
      await using store = await open();
      await store.commit({ statements: [note('a'), note('b')] });
      const update = { sql: "UPDATE notes SET text = 'new' WHERE id = ?", values: ['c'], expect: 1 };
      const batch = { statements: [note('d'), update], events: [event('never')] };
      await expect(store.commit(batch)).rejects.toMatchObject({ code: 'conflict', statement: 1 });
      expect(await store.query('SELECT id, text FROM notes ORDER BY id')).toEqual([
        { id: 'a', text: null },
        { id: 'b', text: null },
      ]);
      const done = await store.commit({
        statements: [
          { ...update, values: ['a'] },
          { sql: 'SELECT id FROM notes ORDER BY id', expect: 2 },
          { sql: 'DELETE FROM notes', expect: 2 },
        ],
      });
      expect(done.results).toEqual([
        { changes: 1, rows: [] },
        { changes: 2, rows: [{ id: 'a' }, { id: 'b' }] },
        { changes: 2, rows: [] },
      ]);
      expect(await store.bounds()).toEqual({ first: 1, last: 0 });
    });

    test('a statement has the seq that an event of its batch gets', async () => {
      await using store = await open();
      const number = (id: string, seqOf: number) => ({
        sql: 'UPDATE notes SET number = ? WHERE id = ? RETURNING number',
        values: [{ seqOf }, id],
      });
      const made = await Promise.all(
        range(20).map((i) =>
          store.commit({
            statements: [number(`n${i}`, 1), note(`n${i}`)],
            events: [event('first'), event('second')],
          }),
        ),
      );
      for (const { results, events } of made)
        expect(results).toEqual([
          { changes: 1, rows: [{ number: events[1]?.seq }] },
          { changes: 1, rows: [] },
        ]);
      const none = store.commit({ statements: [note('none'), number('none', 1)], events: [event('one')] });
      await expect(none).rejects.toMatchObject({ code: 'refused' });
      expect(await store.query("SELECT id FROM notes WHERE id = 'none'")).toEqual([]);
    });

    test('RETURNING and ON CONFLICT answer what was changed', async () => {
      await using store = await open();
      const upsert = {
        sql: 'INSERT INTO notes (id, number) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET number = notes.number + excluded.number RETURNING id, number',
        values: ['a', 2],
      };
      const skip = {
        sql: 'INSERT INTO notes (id) VALUES (?) ON CONFLICT DO NOTHING RETURNING id',
        values: ['a'],
      };
      const { results } = await store.commit({ statements: [upsert, upsert, skip] });
      expect(results).toEqual([
        { changes: 1, rows: [{ id: 'a', number: 2 }] },
        { changes: 1, rows: [{ id: 'a', number: 4 }] },
        { changes: 0, rows: [] },
      ]);
    });

    test('two that race for one row: one wins, the other hears of the conflict', async () => {
      await using store = await open();
      await store.commit({ statements: [note('task')] });
      const claim = (who: string) => ({
        statements: [
          {
            sql: 'UPDATE notes SET text = ? WHERE id = ? AND text IS NULL',
            values: [who, 'task'],
            expect: 1,
          },
        ],
      });
      const outcomes = await Promise.allSettled(range(40).map((i) => store.commit(claim(`w${i}`))));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('a commit resolves only after it can be read, and listeners hear of it first, in order', async () => {
      await using store = await open();
      const heard: number[] = [];
      const stop = store.onCommit((events) => heard.push(...seqs(events)));
      await Promise.all(
        range(300).map(async (i) => {
          const { events } = await store.commit({ statements: [note(`n${i}`)], events: [event('e')] });
          expect(heard).toContain(events[0]?.seq);
          expect(await store.query('SELECT id FROM notes WHERE id = ?', [`n${i}`])).toHaveLength(1);
        }),
      );
      expect(heard).toEqual(range(300, 1));
      stop();
      await store.commit({ events: [event('unheard')] });
      expect(heard).toHaveLength(300);
    });

    test('text, numbers and bytes come back as they went in', async () => {
      await using store = await open();
      const values = [
        ['text', 'Grüße 👩‍👩‍👧 \u202e\u0001\x7f\r\n\'";--\\', null, null],
        ['empty', '', 0, new Uint8Array()],
        ['number', null, Number.MAX_SAFE_INTEGER, null],
        ['negative', null, Number.MIN_SAFE_INTEGER, null],
        ['bytes', null, null, Uint8Array.from(range(256))],
      ] as const;
      const sql = 'INSERT INTO notes (id, text, number, bytes) VALUES (?, ?, ?, ?) RETURNING *';
      const { results } = await store.commit({ statements: values.map((row) => ({ sql, values: row })) });
      const read = await store.query('SELECT * FROM notes');
      for (const [id, text, number, bytes] of values) {
        for (const rows of [results.flatMap((result) => result.rows), read]) {
          const row = rows.find((each) => each.id === id);
          expect(row).toMatchObject({ text, number });
          expect(row?.bytes && Uint8Array.from(row.bytes as Uint8Array)).toEqual(bytes);
        }
      }
    });

    test('a NUL is kept in an event and in bytes, and refused in text like values no column can hold', async () => {
      await using store = await open();
      const payload = { text: 'a\0b', lone: '\ud800', 'key\0': 1 };
      const { events } = await store.commit({ events: [event('e', payload)] });
      expect(events[0]?.payload).toEqual(payload);
      expect((await store.events({ after: 0, limit: 1 }))[0]?.payload).toEqual(payload);
      await expect(store.commit({ statements: [note('a\0')] })).rejects.toMatchObject({ code: 'unstorable' });
      await expect(store.commit({ events: [event('a\0')] })).rejects.toMatchObject({ code: 'unstorable' });
      for (const value of ['\0', Number.NaN, true, undefined, 1n, {}, () => 1]) {
        const wrong = store.query('SELECT ? AS x', [value as string]);
        const code = value === '\0' ? 'unstorable' : 'refused';
        await expect(wrong).rejects.toMatchObject({ code });
        const written = store.commit({
          statements: [{ sql: note('a').sql, values: ['a', value as string] }],
        });
        await expect(written).rejects.toMatchObject({ code });
      }
    });

    test('a payload of a megabyte is kept', async () => {
      await using store = await open();
      const payload = 'é'.repeat(512 * 1024);
      await Promise.all(range(4).map(() => store.commit({ events: [event('big', payload)] })));
      const read = await store.events({ after: 0, limit: 10 });
      expect(read.map((each) => each.payload === payload)).toEqual([true, true, true, true]);
    });

    test('text is found by its words from the commit that adds it to the one that takes it away', async () => {
      await using store = await open();
      const letter = (number: number, title: string | null, text: string) => ({
        sql: 'INSERT INTO letters (number, title, text) VALUES (?, ?, ?)',
        values: [number, title, text],
      });
      await store.commit({
        statements: [
          letter(1, 'Größe', 'the quick brown fox'),
          letter(2, null, 'the slow fox AND "quoted" words'),
          letter(3, 'fox', 'quick'),
        ],
      });
      const found = async (words: string): Promise<readonly unknown[]> => {
        const { sql, values } = await store.matching('letters_search', words);
        const rows = await store.query(`SELECT number FROM letters WHERE ${sql} ORDER BY number`, values);
        return rows.map(({ number }) => number);
      };
      expect(await found('fox')).toEqual([1, 2, 3]);
      expect(await found('QUICK fox')).toEqual([1, 3]);
      expect(await found('qui*')).toEqual([1, 3]);
      expect(await found('qui')).toEqual([]);
      expect(await found('große')).toEqual([1]);
      expect(await found('AND "quoted"')).toEqual([2]);
      expect(await found('fox OR nothing')).toEqual([]);
      expect(await found("x'; DROP TABLE letters")).toEqual([]);
      await store.commit({ statements: [{ sql: 'DELETE FROM letters WHERE number = ?', values: [1] }] });
      expect(await found('quick')).toEqual([3]);
      for (const words of ['', ' ', '*"()'])
        await expect(store.matching('letters_search', words)).rejects.toMatchObject({ code: 'refused' });
      await expect(store.matching('nothing', 'x')).rejects.toMatchObject({ code: 'refused' });
    });

    test('text is found whether or not somebody searched before it was added or taken away', async () => {
      await using store = await open();
      const add = (number: number) => ({
        sql: 'INSERT INTO letters (number, title, text) VALUES (?, ?, ?)',
        values: [number, null, 'fox'],
      });
      const remove = (number: number) => ({ sql: 'DELETE FROM letters WHERE number = ?', values: [number] });
      const found = async (): Promise<readonly unknown[]> => {
        const { sql, values } = await store.matching('letters_search', 'fox');
        const rows = await store.query(`SELECT number FROM letters WHERE ${sql} ORDER BY number`, values);
        return rows.map(({ number }) => number);
      };
      await store.commit({ statements: [add(1), add(2), remove(1)] });
      expect(await found()).toEqual([2]);
      await store.commit({ statements: [add(3)] });
      await store.commit({ statements: [remove(3), remove(2), add(4)] });
      expect(await found()).toEqual([4]);
      await store.commit({ statements: range(500).map((i) => add(i + 5)) });
      await Promise.all([found(), found(), store.commit({ statements: [remove(4)] })]);
      expect(await found()).toHaveLength(500);
    });

    test('of what has the words only the newest may be asked for', async () => {
      await using store = await open();
      await store.commit({
        statements: range(10).map((number) => ({
          sql: 'INSERT INTO letters (number, title, text) VALUES (?, ?, ?)',
          values: [number, null, number % 2 === 0 ? 'even fox' : 'odd fox'],
        })),
      });
      const found = async (words: string, newest: { count: number; before?: number }) => {
        const { sql, values } = await store.matching('letters_search', words, newest);
        const rows = await store.query(`SELECT number FROM letters WHERE ${sql} ORDER BY number`, values);
        return rows.map(({ number }) => number);
      };
      expect(await found('fox', { count: 3 })).toEqual([7, 8, 9]);
      expect(await found('even', { count: 2, before: 8 })).toEqual([4, 6]);
      expect(await found('odd', { count: 99 })).toEqual([1, 3, 5, 7, 9]);
    });

    test('5,000 commits at once all happen, in groups', async () => {
      await using store = await open();
      const made = await Promise.all(range(5000).map((i) => store.commit({ events: [event('e', i)] })));
      expect(made.map(({ events }) => events[0]?.seq)).toEqual(range(5000, 1));
      const { groups, batches, rows, queued } = store.gauges();
      expect({ batches, rows, queued }).toEqual({ batches: 5000, rows: 5000, queued: 0 });
      expect(groups).toBeLessThan(500);
    });

    test('wrong SQL is refused, in a commit and in a query, which cannot write', async () => {
      await using store = await open();
      const refused = { code: 'refused' };
      await expect(store.commit({ statements: [{ sql: 'NONSENSE' }] })).rejects.toMatchObject(refused);
      await expect(
        store.commit({ statements: [{ sql: 'SELECT ? AS x', values: [1, 2] }] }),
      ).rejects.toMatchObject(refused);
      await expect(store.query('SELECT nothing')).rejects.toMatchObject(refused);
      await expect(store.query("INSERT INTO notes (id) VALUES ('x') RETURNING id")).rejects.toMatchObject(
        refused,
      );
      await store.commit({ statements: [note('still works')] });
    });

    test('trimming keeps what is young and the newest, and never gives a seq again', async () => {
      let time = 0;
      await using store = await open({ now: () => time });
      for (const now of [10, 20, 5, 30]) {
        time = now;
        await store.commit({ events: range(600).map(() => event('e')) });
      }
      time = 100;
      expect(await store.trim({ olderThan: 85, keepAtLeast: 2400 })).toBe(0);
      expect(await store.trim({ olderThan: 85, keepAtLeast: 2100 })).toBe(300);
      expect(await store.bounds()).toEqual({ first: 301, last: 2400 });
      // The third part looks older than the second, which keeps it: nothing is cut out of the middle.
      expect(await store.trim({ olderThan: 85, keepAtLeast: 10 })).toBe(300);
      expect(await store.bounds()).toEqual({ first: 601, last: 2400 });
      expect(await store.trim({ olderThan: 1, keepAtLeast: 0 })).toBe(1800);
      expect(await store.bounds()).toEqual({ first: 2401, last: 2400 });
      const { events } = await store.commit({ events: [event('next')] });
      expect(seqs(events)).toEqual([2401]);
    });

    test('closing commits what was asked for before, and refuses what comes after', async () => {
      await using store = await open();
      const before = range(100).map(() => store.commit({ events: [event('e')] }));
      const closing = store.close();
      await expect(store.commit({ events: [event('late')] })).rejects.toMatchObject({ code: 'closed' });
      await closing;
      expect((await Promise.all(before)).at(-1)?.events[0]?.seq).toBe(100);
      await expect(store.query('SELECT 1 AS x')).rejects.toMatchObject({ code: 'closed' });
      await store.close();
    });
  });
}
