import type { AgentName } from './installed-agents.ts';
import { manners } from './manners.ts';
import { type Answer, echo, type ModelServer, startModelServer, type Turn } from './model-server.ts';

/** A model that does what the words say, and takes its time until it is let go. */
export class ScriptedModel {
  readonly server: ModelServer;
  readonly #held: { letGo: PromiseWithResolvers<void> };

  private constructor(server: ModelServer, held: { letGo: PromiseWithResolvers<void> }) {
    this.server = server;
    this.#held = held;
  }

  static async start(name: AgentName, otherwise: (turn: Turn) => Answer = echo): Promise<ScriptedModel> {
    const held = { letGo: Promise.withResolvers<void>() };
    const once = new Set<string>();
    const { shell, look, question: asking } = manners[name];
    const server = await startModelServer(async (turn) => {
      const said = turn.said.trim();
      // Once for each prompt: what comes back with the result may hold the same words.
      const isNew = !once.has(said);
      once.add(said);
      if (said.includes('run the tool') && isNew) return shell;
      if (said.includes('look around') && isNew) {
        await held.letGo.promise;
        return look;
      }
      if (said.includes('ask me') && isNew && asking) return asking;
      if (said.includes('take your time')) return { text: 'I am at it', until: held.letGo.promise };
      if (said.includes('fail now')) return { status: 400, message: 'refused by the test' };
      return otherwise(turn);
    });
    return new ScriptedModel(server, held);
  }

  /** From now on it takes its time again. */
  hold(): void {
    this.#held.letGo = Promise.withResolvers();
  }

  letGo(): void {
    this.#held.letGo.resolve();
  }

  async close(): Promise<void> {
    this.letGo();
    await this.server.close();
  }
}
