import { expect, it } from 'vitest';
import { fileTrouble } from './file-trouble.ts';

it.each([
  ['ENOENT', 'read', 'a/b', 'there is no file a/b.', 'Check the path.'],
  ['ENOENT', 'written', '/a b/c', 'there is no folder /a b.', "Make it first: mkdir -p '/a b'"],
  ['EISDIR', 'written', 'a', 'a is a folder.', 'Name a file in it.'],
  ['ENOTDIR', 'written', 'a/b', 'a/b: a is no folder.', 'Check the path.'],
  ['EACCES', 'read', 'b', 'b may not be read by you.', 'See who may: ls -ld . b'],
  ['EPERM', 'written', '/b', '/b may not be written by you.', 'See who may: ls -ld / /b'],
  ['EROFS', 'written', 'b', 'b is on a disk that takes no changes.', 'Name a file elsewhere.'],
  ['EMFILE', 'read', 'b', 'b cannot be read: too many.', 'Name another file.'],
] as const)(
  'says of %s, when %s, what is wrong with %s and what to do',
  (code, doing, file, message, hint) => {
    expect(fileTrouble(file, doing, Object.assign(new Error('too many'), { code }))).toMatchObject({
      message,
      hint,
    });
  },
);
