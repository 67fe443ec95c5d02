import type { Operation } from '../operation/operation.ts';
import type { StepResult } from './plan-result.ts';
import type { Bindings } from './slot.ts';
import type { HostStep } from './step.ts';

/** What a running plan wants done next; every slot in it has become an id. */
export type Request = OperationRequest | HostRequest;
export interface OperationRequest {
  readonly type: 'single' | 'chain' | 'batch' | 'probe';
  readonly operations: readonly Operation[];
}
export interface HostRequest {
  readonly type: 'host';
  readonly host: HostStep;
  readonly bindings: Bindings;
}

/** A step is done; nothing is to be answered. */
export interface StepDone {
  readonly type: 'step';
  readonly step: StepResult;
  /** Grows while the plan runs. */
  readonly bindings: Bindings;
}
