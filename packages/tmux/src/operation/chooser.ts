import { flag, oneOf, type Param, text } from './param.ts';

/** What the lists a person chooses from (choose_tree, choose_buffer, choose_client) have in common. */
export interface Chooser {
  readonly format?: string;
  readonly filter?: string;
  readonly keyFormat?: string;
  readonly reverse?: boolean;
  readonly withoutPreview?: boolean;
  readonly zoom?: boolean;
  readonly withoutConfirm?: boolean;
}

export const chooserParams: { readonly [K in keyof Chooser]-?: Param<NonNullable<Chooser[K]>, false> } =
  Object.freeze({
    format: text('-F', 'the format of each line'),
    filter: text('-f', 'a format: only items for which it is true are shown'),
    keyFormat: text('-K', 'the format of each line’s shortcut key'),
    reverse: flag('-r', 'reverse the order'),
    withoutPreview: flag('-N', 'start without the preview'),
    zoom: flag('-Z', 'zoom the pane meanwhile'),
    withoutConfirm: flag('-y', 'ask nothing back before killing', { since: '3.6' }),
  });

/** The field the list is first sorted by. */
export function sortedBy<K extends string>(fields: readonly K[]): Param<K, false> {
  return oneOf('-O', fields, 'the field it is first sorted by');
}
