import { type Door, refused, uncertain } from '../door.ts';

/** Sends on the open channel to an agent; nothing where it has none. */
export interface HintChannel {
  /** Answers whether it was sent. */
  send(text: string, about: Readonly<Record<string, string>>): boolean;
}

/**
 * The channel of Claude Code, through `poly mcp --channel`. Whole versions of it have dropped what came there without a
 * word: it is for an agent that no other door leads to, and for the last try, and never promises anything.
 */
export function createChannelDoor(channelOf: (recipient: string) => HintChannel | undefined): Door {
  return {
    name: 'claude channel',
    repeatable: false,
    async offer({ recipient, pane }, { text, upTo }, begin, { isLast }) {
      const channel = channelOf(recipient);
      if (!channel) return refused('it has no open channel (poly mcp --channel)');
      if (pane && !isLast) return refused('it is for the last try: nobody tells what becomes of it there');
      if (!(await begin())) return refused('nobody wants it any more');
      if (!channel.send(text, { mail: String(upTo) })) return refused('its channel has just been closed');
      return uncertain('it was sent, and Claude Code tells nobody whether it took it');
    },
  };
}
