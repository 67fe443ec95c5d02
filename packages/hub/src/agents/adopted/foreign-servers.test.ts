import { demoServer } from '@polyphony/tmux/testing';
import { expect, it } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { ForeignServers } from './foreign-servers.ts';

it('lends a server that answers also when the last agent on it ends meanwhile', async () => {
  await using server = await demoServer();
  const { socketPath = '' } = server.connection;
  const servers = new ForeignServers(systemClock, () => undefined);
  const before = await servers.at(socketPath).panes();
  const panes = await servers.lend(async (serverAt) => {
    const lent = serverAt(socketPath);
    await servers.keepOnly(new Set());
    return lent.panes();
  });
  expect(panes.map(({ pane }) => pane)).toEqual(before.map(({ pane }) => pane));
  await servers.close();
});
