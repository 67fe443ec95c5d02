export { demoServer, fillDemo } from './demo-server.ts';
export { isAlive } from './is-alive.ts';
export { testBinaries } from './test-binaries.ts';
export { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';
