import type { NamedAgent } from '@polyphony/protocol';
import type { FormEvent, JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';

/** Which secrets the program of an agent is given; what they are is shown nowhere, also not here. */
export function AgentSecrets({
  hub,
  agent: { name, secrets = [] },
}: {
  readonly hub: HubState;
  readonly agent: NamedAgent;
}): JSX.Element {
  const { busy, run } = useOneAtATime();
  const set = (variable: string, value: string | null): Promise<boolean> =>
    hub.attempt(hub.client.call('floor:agent-secret', { name, variable, value }));
  const keep = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    void run(async () => {
      if (await set(String(given.get('variable')), String(given.get('value')))) form.reset();
    });
  };
  return (
    <section className="registry" aria-label="Secrets">
      <h3>Secrets</h3>
      <ul>
        {secrets.map((variable) => (
          <li key={variable}>
            <span className="mono">{harmless(variable)}</span>
            <span className="dim">kept, and shown nowhere</span>
            <button
              type="button"
              disabled={busy}
              aria-label={`Delete ${harmless(variable)}`}
              onClick={() => void run(() => set(variable, null))}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      <form className="row" onSubmit={keep}>
        <input
          name="variable"
          className="mono"
          aria-label="Variable"
          placeholder="DATABASE_TOKEN"
          required
          autoComplete="off"
          spellCheck={false}
        />
        <input
          name="value"
          type="password"
          aria-label="Value"
          required
          minLength={8}
          autoComplete="new-password"
        />
        <button type="submit" disabled={busy}>
          Keep
        </button>
      </form>
      <p className="dim">Its program is given them when it starts next.</p>
    </section>
  );
}
