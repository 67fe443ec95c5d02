export {
  type Command,
  type ConnectionOptions,
  type Engine,
  execute,
  executeChain,
  type RunOptions,
} from './engine.ts';
export { ControlEngine, type ControlEngineOptions } from './engines/control/engine.ts';
export { createEngine, type EngineName, engineNames } from './engines/index.ts';
export { TmuxError, type TmuxErrorCode } from './errors.ts';
export { eventTypes, type TmuxEvent, type TmuxEvents, type TmuxEventType } from './events/event.ts';
export type { EventStream, SubscribeOptions } from './events/event-stream.ts';
export { Events, type EventsOptions, type WatchScope } from './events/events.ts';
export { Client } from './facade/client.ts';
export { LazyClient, LazyPane, LazyServer, LazySession, LazyWindow } from './facade/lazy.ts';
export { Pane } from './facade/pane.ts';
export { type Here, Server } from './facade/server.ts';
export { Session } from './facade/session.ts';
export { Window } from './facade/window.ts';
export { withoutPasteBrackets } from './facade/without-paste-brackets.ts';
export {
  type Builder,
  defineOperation,
  type Effect,
  type Operation,
  type OperationSpec,
  type Scope,
} from './operation/operation.ts';
export type {
  Ack,
  CreatedPane,
  CreatedSession,
  CreatedWindow,
  Exists,
  Lines,
  Outcome,
  Text,
} from './operation/outcome.ts';
export type { Reply } from './operation/reply.ts';
export { Result } from './operation/result.ts';
export {
  type AnyTarget,
  type ClientTarget,
  exact,
  type PaneId,
  type PathTarget,
  type SessionId,
  type SlotRef,
  type SpecialTarget,
  type Target,
  type WindowId,
  type WindowPaneTarget,
} from './operation/target.ts';
export { atLeast, compareVersions, parseVersion, type TmuxVersion } from './operation/version.ts';
export * from './operations/index.ts';
export { openPanePipe, PanePipe, type PanePipeOptions } from './pipe/pane-pipe.ts';
export { type Chain, chain, chainFromJSON } from './plan/chain.ts';
export type { PlanEvent, StreamOptions } from './plan/drive.ts';
export { type HostRunner, runHostStep } from './plan/host.ts';
export { bindingsFromJSON, planFromJSON } from './plan/json.ts';
export { type ExecuteOptions, type Explanation, Plan } from './plan/plan.ts';
export { type HostResult, type OperationResult, PlanResult, type StepResult } from './plan/plan-result.ts';
export { folding, type Planner, type PlannerName, pipelined, planners, sequential } from './plan/planners.ts';
export { findSession, type Probe } from './plan/probe.ts';
export type { Bindings, Ref, Slot } from './plan/slot.ts';
export type { HostStep } from './plan/step.ts';
export { type CatalogEntry, createRegistry, operations, type Registry } from './registry.ts';
export {
  type ClientSnapshot,
  type PaneSnapshot,
  panesOf,
  type ServerSnapshot,
  type SessionSnapshot,
  snapshotFromJSON,
  snapshotSchema,
  type WindowSnapshot,
} from './snapshot/snapshot.ts';
export { takeSnapshot } from './snapshot/take-snapshot.ts';
export type { OutputSource, Tmux } from './wait/output-source.ts';
export { OutputTape, type OutputTapeOptions, type TapeReader } from './wait/output-tape.ts';
export type { Exit } from './wait/pane-state.ts';
export { type RunAndWaitOptions, runAndWait } from './wait/run-and-wait.ts';
export { type WaitOptions, type WaitReason, type WaitResult, waitForOutput } from './wait/wait-for-output.ts';
