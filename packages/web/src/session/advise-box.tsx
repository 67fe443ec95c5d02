import type { FloorSession } from '@polyphony/protocol';
import { type FormEvent, type JSX, useRef, useState } from 'react';
import { newKey } from '../mail/recipients.ts';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { onCtrlEnter } from '../page/submit-key.ts';
import { useCommands } from '../page/use-commands.ts';

interface AdviseBoxProps {
  readonly hub: HubState;
  readonly session: FloorSession;
  readonly you: string | undefined;
}

/** How something is said: as advice to the agent or to its driver, or as the words of the driver. */
type Way = 'agent' | 'driver' | 'prompt';

const ways: Readonly<Record<Way, string>> = {
  agent: 'advice to the agent',
  driver: 'advice to the driver',
  prompt: 'your prompt',
};

/** Says something to a session; whoever drives it may type for themselves. */
export function AdviseBox({ hub, session, you }: AdviseBoxProps): JSX.Element {
  const { session_id, driver, slug } = session;
  const [text, setText] = useState('');
  const [chosen, setWay] = useState<Way>();
  const [told, setTold] = useState<string>();
  const { busy, run } = useOneAtATime();
  const field = useRef<HTMLTextAreaElement>(null);
  const key = useRef(newKey());
  useCommands({ answer: () => field.current?.focus() });
  const isYours = driver !== undefined && driver === you;
  const choices: readonly Way[] = isYours
    ? ['prompt', 'agent']
    : ['agent', ...(driver === undefined ? [] : (['driver'] as const))];
  const way = chosen && choices.includes(chosen) ? chosen : (choices[0] ?? 'agent');
  const say = async (): Promise<string> => {
    const { client } = hub;
    const options = { idempotencyKey: key.current };
    if (way === 'prompt') {
      const { state, door } = await client.call('floor:inject', { session: session_id, text }, options);
      return door === undefined ? state : `${state} by ${door}`;
    }
    const { state } = await client.call('floor:advise', { session: session_id, text, to: way }, options);
    return `${state}; how far it gets stands below it`;
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    void run(async () => {
      setTold(undefined);
      const saying = say().then((state) => {
        key.current = newKey();
        setText('');
        setTold(state);
      });
      await hub.attempt(saying);
    });
  };
  return (
    <form className="advise" aria-label="Advise" onSubmit={submit}>
      <textarea
        ref={field}
        aria-label="What you say"
        placeholder={`Say something to ${harmless(slug)}, or to @somebody  ( r )`}
        rows={2}
        maxLength={8000}
        dir="auto"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          // What was changed is another message.
          key.current = newKey();
        }}
        onKeyDown={(event) => {
          onCtrlEnter(event);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <div className="actions">
        <span className="dim told" role="status" aria-label="Delivery">
          {told !== undefined && harmless(told)}
        </span>
        <select aria-label="As" value={way} onChange={(event) => setWay(event.currentTarget.value as Way)}>
          {choices.map((one) => (
            <option key={one} value={one}>
              {ways[one]}
            </option>
          ))}
        </select>
        <button type="submit" className="primary" title="Send (Ctrl-Enter)" disabled={busy}>
          Send
        </button>
      </div>
    </form>
  );
}
