import { approvalList, approvalResolve } from '@polyphony/protocol';
import { isUser } from '../registry/caller.ts';
import type { Registry } from '../registry/registry.ts';
import type { Approvals } from './approvals.ts';

const owner = 'approval';

export function registerApprovalActions(registry: Registry, approvals: Approvals): void {
  registry.register(owner, approvalList, (_, { caller }) => ({
    approvals: approvals.list(isUser(caller) ? undefined : caller.participant),
  }));
  registry.register(owner, approvalResolve, async ({ id, decision }, { caller }) => {
    await approvals.resolve(id, decision, caller);
    return { id, decision };
  });
}
