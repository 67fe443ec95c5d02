import type { Server } from 'node:http';
import { join } from 'node:path';
import { type Door, socketDoor, tcpDoor, urlOf } from '../edges/gate.ts';
import { HttpEdge, type HttpEdgeOptions } from '../edges/http.ts';
import { listenOnPort, listenOnSocket } from '../edges/listen.ts';
import type { SseStreams } from '../edges/sse.ts';
import { WebSocketEdge, type WebSocketEdgeOptions } from '../edges/websocket.ts';
import type { Places } from '../platform/places.ts';
import type { Settings } from '../platform/settings.ts';

export interface DoorsOptions extends HttpEdgeOptions, WebSocketEdgeOptions {
  readonly streams: SseStreams;
  readonly places: Places;
  readonly settings: Settings;
  /** Called when it is known where TCP listens. */
  readonly onPort: (port: number, url: string) => void;
}

/** Opens every way in, each behind the same gate; answers what closes them. */
export async function openDoors(options: DoorsOptions): Promise<() => Promise<void>> {
  const { credentials, streams, floorStreams, places, settings, onPort } = options;
  const edge = new HttpEdge(options);
  const sockets = new WebSocketEdge(options);
  credentials.onRevoked((who) => {
    streams.drop(who);
    floorStreams.drop(who);
    sockets.drop(who);
    // A program that ends its own pane still hears that it has.
    if (who.person !== undefined) edge.drop(who);
  });
  const open = (doorOf: () => Door): Server => {
    const server = edge.open(doorOf);
    sockets.serve(server, (request, url) => edge.identify(request, url, doorOf(), 'ws'));
    return server;
  };
  await listenOnSocket(
    open(() => socketDoor),
    places.socket,
  );
  if (settings.tcp) {
    let port = 0;
    port = await listenOnPort(
      open(() => tcpDoor(port)),
      { ...settings, memory: join(places.home, 'port') },
    );
    onPort(port, urlOf(settings.hostname, port));
  }
  return async () => {
    streams.close();
    floorStreams.close();
    sockets.close();
    await edge.close();
  };
}
