import type { HubState } from './hub-state.ts';
import { useLive } from './use-live.ts';

/** The names of all projects that are not archived. */
export function useProjects(hub: HubState): readonly string[] {
  const known = useLive(hub, ['project'], 'projects', () => hub.client.call('project:list', {}));
  return (known?.projects ?? []).map(({ name }) => name).sort();
}
