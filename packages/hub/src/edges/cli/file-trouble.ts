import { type ErrorCode, PolyError } from '@polyphony/protocol';
import { shellWord } from './shell-word.ts';

type Doing = 'read' | 'written';
type Trouble = readonly [code: ErrorCode, message: string, hint: string];

/** What the file system says, and what it means to whoever named the file. */
const troubles: Readonly<Record<string, (file: string, folder: string, doing: Doing) => Trouble>> = {
  ENOENT: (file, folder, doing) =>
    doing === 'read'
      ? ['not_found', `there is no file ${file}.`, 'Check the path.']
      : ['not_found', `there is no folder ${folder}.`, `Make it first: mkdir -p ${shellWord(folder)}`],
  EISDIR: (file) => ['invalid_arguments', `${file} is a folder.`, 'Name a file in it.'],
  ENOTDIR: (file, folder) => ['invalid_arguments', `${file}: ${folder} is no folder.`, 'Check the path.'],
  EACCES: (file, folder, doing) => [
    'forbidden',
    `${file} may not be ${doing} by you.`,
    `See who may: ls -ld ${shellWord(folder)} ${shellWord(file)}`,
  ],
  EROFS: (file) => ['forbidden', `${file} is on a disk that takes no changes.`, 'Name a file elsewhere.'],
};

export function fileTrouble(file: string, doing: Doing, cause: unknown): PolyError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const folder = file.replace(/\/?[^/]*$/, '') || (file.startsWith('/') ? '/' : '.');
  const [kind, said, hint] = troubles[code === 'EPERM' ? 'EACCES' : code]?.(file, folder, doing) ?? [
    'action_failed',
    `${file} cannot be ${doing}: ${message}.`,
    'Name another file.',
  ];
  return new PolyError(kind, said, { hint, cause });
}
