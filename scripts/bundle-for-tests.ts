// Bundles what the tests start as processes, so that they run what users run.
import { bundle } from './bundle.ts';
import { bundleDaemons } from './bundle-daemons.ts';
import { bundleWeb } from './bundle-web.ts';

export default async function setup(): Promise<void> {
  await Promise.all([bundle(), bundleDaemons(), bundleWeb()]);
}
