import { randomBytes } from 'node:crypto';

/** Randomness comes in as an argument, so that tests can foresee it. */
export interface Random {
  hex(bytes: number): string;
  /** 256 bits that fit into a header. */
  token(): string;
}

export const systemRandom: Random = createRandom();

/** Asks the system for many bytes at once, and gives each out once. */
function createRandom(): Random {
  let pool = Buffer.alloc(0);
  const take = (bytes: number): Buffer => {
    if (pool.length < bytes) pool = randomBytes(4096);
    const taken = pool.subarray(0, bytes);
    pool = pool.subarray(bytes);
    return taken;
  };
  return {
    hex: (bytes) => take(bytes).toString('hex'),
    token: () => take(32).toString('base64url'),
  };
}
