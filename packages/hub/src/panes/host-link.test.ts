import { expect, test } from 'vitest';
import type { Host } from '../host/client.ts';
import { HostError } from '../host/host-error.ts';
import { HostLink } from './host-link.ts';

test('a host that is older than a request is told of as unavailable, with what to do', async () => {
  const host = { onClose: () => () => undefined } as unknown as Host;
  const link = new HostLink({
    connect: async () => host,
    find: async () => host,
    onConnected: async () => undefined,
    onLost: () => undefined,
  });
  const asking = link.use(async () => {
    throw new HostError('unknown_request', 'This host does not know the request search.');
  });
  await expect(asking).rejects.toMatchObject({
    code: 'unavailable',
    hint: 'The host is older than the hub; it is renewed when its last pane has ended.',
  });
});

test('a host that does not run is not started to be stopped', async () => {
  const link = new HostLink({
    connect: async () => {
      throw new HostError('host_unavailable', 'The terminal host does not start.');
    },
    find: async () => undefined,
    onConnected: async () => undefined,
    onLost: () => undefined,
  });
  await expect(link.stop()).resolves.toBeUndefined();
});
