import { storeContract } from './store.contract.ts';
import { newGround } from './store-ground.ts';

storeContract('the SQLite store', async ({ now = Date.now } = {}) => {
  const ground = newGround();
  const store = await ground.open({ clock: { now } });
  store[Symbol.asyncDispose] = ground.close;
  return store;
});
