import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { type BorderLines, borderLines, type Position, position } from '../operation/overlay.ts';
import {
  argument,
  choice,
  client,
  environment,
  flag,
  optional,
  path,
  size,
  target,
  text,
} from '../operation/param.ts';
import type { ClientTarget, Target } from '../operation/target.ts';

export interface DisplayPopup {
  readonly client: ClientTarget;
  readonly target?: Target;
  readonly close?: 'onExit' | 'onSuccess';
  readonly anyKeyCloses?: boolean;
  readonly width?: number | `${number}%`;
  readonly height?: number | `${number}%`;
  readonly x?: Position;
  readonly y?: Position;
  readonly title?: string;
  readonly withoutBorder?: boolean;
  readonly borderLines?: BorderLines;
  readonly style?: string;
  readonly borderStyle?: string;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly shell?: string;
}

export interface PopupEnd {
  /** The command exited with another code than 0, or the popup was closed before it had ended. */
  readonly failed: boolean;
}

/** The popup's exit code becomes that of the tmux process, which has nothing to say of its own. */
const popupEnd: Outcome<PopupEnd> = {
  name: 'PopupEnd',
  schema: z.strictObject({ failed: z.boolean() }),
  read: (reply) => ({ failed: reply.status === 'failed' }),
  answersFailure: (reply) => reply.stderr === '',
};

export const displayPopup: Builder<DisplayPopup, PopupEnd> = defineOperation<DisplayPopup, PopupEnd>({
  kind: 'display_popup',
  scope: 'client',
  effect: 'write',
  summary:
    'Runs a command in a popup on a client and waits until it is closed. A control client, and before tmux 3.8 one that shows a menu or a popup already, shows nothing, and tmux does not say so.',
  params: {
    client: client('the client', '-c'),
    target: optional(target('the pane that formats are about')),
    close: choice(
      { onExit: ['-E'], onSuccess: ['-E', '-E'] },
      'close when the command has ended, or only when it exited with 0',
    ),
    anyKeyCloses: flag('-k', 'any key closes it once the command has ended', { since: '3.6' }),
    width: size('-w', 'columns, or a share of the terminal; half unless told'),
    height: size('-h', 'rows, or a share of the terminal; half unless told'),
    x: position('-x', 'column of the left side, or a place; centre unless told'),
    y: position('-y', 'row of the bottom, or a place; centre unless told'),
    title: text('-T', 'the title; a format', { since: '3.3' }),
    withoutBorder: flag('-B', 'draw no border', { since: '3.3' }),
    borderLines: borderLines('3.3'),
    style: text('-s', 'style of the popup', { since: '3.3' }),
    borderStyle: text('-S', 'style of its border', { since: '3.3' }),
    startDirectory: path('-d', 'working directory of the command', { expanded: true }),
    environment: environment('variables of the command', { since: '3.3' }),
    shell: argument('command the shell runs; the user’s shell unless told'),
  },
  result: popupEnd,
  ownProcess: true,
  example: { client: { client: '/dev/pts/0' }, close: 'onExit', shell: 'exit 0' },
});
