import type { PaneInfo } from '@polyphony/protocol';
import { type JSX, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { Rows } from '../page/rows.tsx';
import { Teaching } from '../page/teaching.tsx';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { AgentFacts } from './agent-facts.tsx';
import { type AgentRow, agentRows } from './agent-rows.ts';

interface AgentsPageProps {
  readonly hub: HubState;
  readonly panes: readonly PaneInfo[];
  readonly open: string | undefined;
  readonly now: number;
  readonly onOpen: (id: string | undefined) => void;
  readonly onPane: (paneId: string) => void;
  /** Writes to the agent with this id. */
  readonly onWrite: (to: string) => void;
}

const most = 200;

/** Who is there, what each is doing, where, and how much it has not read. */
export function AgentsPage(props: AgentsPageProps): JSX.Element {
  const { hub, panes, open, now, onOpen, onPane, onWrite } = props;
  const [selected, setSelected] = useState<string>();
  const known = useLive(hub, ['mail', 'agent', 'pane'], 'agents', () =>
    hub.client.call('mail:agents', { limit: most }),
  );
  const rows = agentRows(panes, known?.agents ?? []);
  const shown = rows.find(({ id }) => id === open);
  const meant = rows.find(({ id }) => id === selected);
  useCommands({ new: () => meant?.mail && onWrite(meant.mail.agent_id) });
  if (known && rows.length === 0)
    return (
      <main className="view whole">
        <Teaching title="No agents yet" command="poly agent create -- claude">
          An agent is here once it runs in a pane, or has registered a name with register_agent. Start one:
        </Teaching>
      </main>
    );
  return (
    <main className="view" data-shows={shown ? 'item' : 'list'}>
      <nav className="side" aria-label="Agents">
        <Rows
          label="Agents"
          items={rows}
          idOf={({ id }) => id}
          open={shown?.id}
          onOpen={onOpen}
          onSelect={setSelected}
        >
          {(row) => <AgentLine row={row} now={now} />}
        </Rows>
        {known?.has_more && <p className="empty dim">Only the first {most} who registered are shown.</p>}
      </nav>
      <div className="item">
        {shown ? (
          <AgentFacts
            key={shown.id}
            hub={hub}
            row={shown}
            now={now}
            onBack={() => onOpen(undefined)}
            onPane={onPane}
            onWrite={onWrite}
          />
        ) : (
          <p className="empty dim">Choose an agent from the list: Enter shows it, c writes to it.</p>
        )}
      </div>
    </main>
  );
}

function AgentLine({ row, now }: { readonly row: AgentRow; readonly now: number }): JSX.Element {
  const { name, state, mail, pane } = row;
  const { label, tone, reason, since } = state;
  const unread = mail?.unread ?? 0;
  return (
    <>
      <span className={`dot ${tone}`} title={label} aria-hidden="true" />
      <span className="title">
        <bdi>{name}</bdi>
        {mail?.display_name !== undefined && (
          <>
            {' '}
            <bdi className="dim">{harmless(mail.display_name)}</bdi>
          </>
        )}
      </span>
      {unread > 0 ? <span className="badge">{unread} unread</span> : <span />}
      {reason !== undefined && <bdi className="reason">{reason}</bdi>}
      <span className="facts">
        <span className={`state ${tone}`}>
          {label}
          {since !== undefined && ` ${ageOf(since, now)}`}
        </span>
        {mail && <bdi>{harmless(mail.project)}</bdi>}
        {mail?.role !== undefined && <bdi>{harmless(mail.role)}</bdi>}
        {pane && pane.id !== name && <span className="mono">{pane.id}</span>}
      </span>
    </>
  );
}
