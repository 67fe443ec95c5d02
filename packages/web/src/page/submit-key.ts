import type { KeyboardEvent } from 'react';

/** In a field of several lines Enter begins a line, and with Ctrl or ⌘ it sends. */
export function onCtrlEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
