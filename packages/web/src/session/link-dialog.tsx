import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import { Modal } from '../page/modal.tsx';

/** Shows where a link of a program leads, in full; going there is left to the user. */
export function LinkDialog({
  address,
  onClose,
}: {
  readonly address: string;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Modal title="A link in the output" onClose={onClose}>
      <p>The program printed a link to:</p>
      <pre>{harmless(address)}</pre>
      <div className="actions">
        <button type="button" onClick={() => void navigator.clipboard.writeText(address).then(onClose)}>
          Copy it
        </button>
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
