import type { ErrorInfo } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from './harmless.ts';

/** What went wrong last. */
export function Trouble({
  trouble,
  onRead,
}: {
  readonly trouble: ErrorInfo;
  readonly onRead: () => void;
}): JSX.Element {
  return (
    <div className="trouble" role="alert">
      <p>
        {harmless(trouble.message)}{' '}
        {trouble.hint !== undefined && <span className="dim">{harmless(trouble.hint)}</span>}
      </p>
      <button type="button" aria-label="Dismiss" onClick={onRead}>
        ×
      </button>
    </div>
  );
}
