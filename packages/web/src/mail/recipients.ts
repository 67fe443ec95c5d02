import type { Client, MailAgent, MailSendResult, Writing } from '@polyphony/protocol';

/** Whom a message of the user is for. */
export type Recipient =
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'role'; readonly project: string; readonly role: string }
  | { readonly kind: 'all'; readonly project: string };

export interface Choice {
  readonly label: string;
  readonly recipient: Recipient;
}

export interface Group {
  readonly label: string;
  readonly choices: readonly Choice[];
}

/** Everybody who can be written to: one by one, by role, and a project as a whole. */
export function groupsOf(agents: readonly MailAgent[]): readonly Group[] {
  const projects = [...new Set(agents.map(({ project }) => project))].sort();
  return projects.map((project) => {
    const members = agents.filter((one) => one.project === project);
    const roles = [...new Set(members.flatMap(({ role }) => role ?? []))].sort();
    return {
      label: project,
      choices: [
        ...members.map(
          ({ agent_id, name, role }): Choice => ({
            label: role === undefined ? name : `${name}, ${role}`,
            recipient: { kind: 'agent', id: agent_id },
          }),
        ),
        ...roles.map(
          (role): Choice => ({
            label: `everyone who is ${role}`,
            recipient: { kind: 'role', project, role },
          }),
        ),
        { label: `everyone in ${project}`, recipient: { kind: 'all', project } },
      ],
    };
  });
}

export interface Draft extends Writing {
  readonly need_reply: boolean;
}

/** Sends it; with the same key again it is the same message, so that nothing goes out twice. */
export function sendTo(
  client: Client,
  recipient: Recipient,
  { need_reply, ...writing }: Draft,
  idempotencyKey: string,
): Promise<MailSendResult> {
  const options = { idempotencyKey };
  switch (recipient.kind) {
    case 'agent':
      return client.call('mail:send-by-id', { to_agent_id: recipient.id, ...writing, need_reply }, options);
    case 'role': {
      const { project, role: to_role } = recipient;
      return client.call('mail:broadcast-to-role', { project, to_role, ...writing }, options);
    }
    case 'all':
      return client.call('mail:broadcast', { project: recipient.project, ...writing }, options);
  }
}

/** Names one wish to send; also where the page is not served from this machine, as `randomUUID` is not then. */
export function newKey(): string {
  return `page-${[...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16)).join('')}`;
}
