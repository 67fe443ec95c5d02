import { randomBytes } from 'node:crypto';

/** Randomness comes in as an argument, so that tests can foresee it. */
export interface Random {
  hex(bytes: number): string;
  /** 256 bits that fit into a header. */
  token(): string;
}

export const systemRandom: Random = {
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  token: () => randomBytes(32).toString('base64url'),
};
