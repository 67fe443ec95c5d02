import type { OpenCodeEvent } from './opencode.ts';

type Properties = OpenCodeEvent['properties'];
type More = Readonly<Record<string, unknown>>;

/** What an answer may hold in memory; the hub cuts it further. */
const mostText = 64 * 1024;

/**
 * Adds to events what they leave out and those before them said: the answer that a turn ended with, and what was asked
 * for where only the reply to it is told. Of the texts of an answer, which are drawn word by word, each counts once.
 */
export class WhatWasSaid {
  /** By session: the answer that is being written, and the last text in it that is whole. */
  readonly #writing = new Map<string, string>();
  readonly #last = new Map<string, { readonly part: string; readonly text: string }>();
  readonly #asked = new Map<string, Properties>();

  /** What is to be told beside an event; nothing where the event itself tells nothing. */
  hear({ type, properties }: OpenCodeEvent): More | undefined {
    const { sessionID = '', id = '', requestID = '', info, part } = properties;
    // One that was broken off is told of once more, when it has ended.
    const isWritten = info?.role === 'assistant' && info.time?.completed === undefined && !info.error;
    if (type === 'message.updated' && isWritten && info.sessionID && info.id)
      this.#writing.set(info.sessionID, info.id);
    if (type === 'message.part.updated') return part && this.#complete(part);
    if (type === 'permission.asked') this.#asked.set(id, properties);
    if (type === 'permission.replied') {
      const asked = this.#asked.get(requestID);
      this.#asked.delete(requestID);
      return { ...(asked && { asked }) };
    }
    // Of a turn that was broken off or has failed there is no answer.
    if (type === 'session.error') this.#writing.delete(sessionID);
    if (type !== 'session.idle' && type !== 'session.error') return {};
    const last = this.#last.get(sessionID);
    this.#last.delete(sessionID);
    return type === 'session.idle' && last ? { text: last.text } : {};
  }

  #complete(part: NonNullable<Properties['part']>): More | undefined {
    const { id = '', type, text = '', sessionID = '', messageID, time } = part;
    const isWhole = type === 'text' && time?.end !== undefined && text.trim() !== '';
    if (!isWhole || this.#writing.get(sessionID) !== messageID) return undefined;
    if (this.#last.get(sessionID)?.part === id) return undefined;
    this.#last.set(sessionID, { part: id, text: text.slice(0, mostText) });
    return { sessionID, part: { id, text: text.slice(0, mostText) } };
  }
}
