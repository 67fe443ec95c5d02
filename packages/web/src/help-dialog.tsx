import { type JSX, useEffect, useRef } from 'react';
import { listKeys, mailKeys, pageKeys, sessionKeys, terminalKeys } from './page/keys.ts';
import { Modal } from './page/modal.tsx';

interface HelpDialogProps {
  readonly screenReader: boolean;
  readonly onScreenReader: (on: boolean) => void;
  readonly sound: boolean;
  readonly onSound: (on: boolean) => void;
  readonly onClose: () => void;
}

export function HelpDialog(props: HelpDialogProps): JSX.Element {
  const { screenReader, onScreenReader, sound, onSound, onClose } = props;
  const keys = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It is read from its beginning: the browser would go to the first box to tick, far below.
    keys.current?.focus({ preventScroll: true });
    keys.current?.closest('dialog')?.scrollTo(0, 0);
  }, []);
  return (
    <Modal title="Keys" onClose={onClose}>
      <div ref={keys} className="help" tabIndex={-1}>
        <section>
          <Keys of={pageKeys} title="Everywhere" />
          <Keys of={mailKeys} title="In the mail" />
          <p className="dim">In a message Ctrl-Enter sends it, and Esc leaves it as it is.</p>
          <Keys of={sessionKeys} title="In a session; j and k go from entry to entry" />
          <p className="dim">
            A pane keeps its own size, whatever the size of this window. Only “Fit” changes it, for everybody
            who looks at it.
          </p>
          <label className="check">
            <input
              type="checkbox"
              checked={screenReader}
              onChange={(event) => onScreenReader(event.currentTarget.checked)}
            />
            Make terminals readable to a screen reader
          </label>
          <label className="check">
            <input
              type="checkbox"
              checked={sound}
              onChange={(event) => onSound(event.currentTarget.checked)}
            />
            Make a sound when an agent begins to need you
          </label>
        </section>
        <section>
          <Keys of={listKeys} title="In the list of panes; the first ones in every list" />
          <h3>In a terminal</h3>
          <dl>
            {terminalKeys.map(({ key, does }) => (
              <Row key={key} keys={[key]} does={does} />
            ))}
          </dl>
          <p className="dim">Every other key is the program’s, Esc and Ctrl-C among them.</p>
        </section>
      </div>
      <div className="actions">
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}

const shown: Readonly<Record<string, string>> = { ArrowDown: '↓', ArrowUp: '↑' };

function Keys({ of, title }: { readonly of: typeof listKeys; readonly title: string }): JSX.Element {
  return (
    <>
      <h3>{title}</h3>
      <dl>
        {of.map(({ keys, does }) => (
          <Row key={does} keys={keys} does={does} />
        ))}
      </dl>
    </>
  );
}

function Row({ keys, does }: { readonly keys: readonly string[]; readonly does: string }): JSX.Element {
  return (
    <>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{shown[key] ?? key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </>
  );
}
