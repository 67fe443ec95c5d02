import type { Operation } from '../operation/operation.ts';
import type { PaneId, SessionId, Target, WindowId } from '../operation/target.ts';
import {
  type CapturePane,
  capturePane,
  detachClient,
  killPane,
  killSession,
  killWindow,
  type NewPane,
  type NewSession,
  type NewWindow,
  newPane,
  newSession,
  newWindow,
  refreshClient,
  renameSession,
  renameWindow,
  type SendKeys,
  type SplitWindow,
  selectLayout,
  selectPane,
  selectWindow,
  sendKeys,
  splitWindow,
  switchClient,
} from '../operations/index.ts';
import { Plan } from '../plan/plan.ts';
import { findSession } from '../plan/probe.ts';
import type { Ref } from '../plan/slot.ts';

/**
 * Records instead of doing: the same verbs as Server, on things that do not exist yet. Run the plan when it is complete.
 *
 * @example
 * const lazy = new LazyServer();
 * lazy.newSession({ name: 'work' }).pane.sendKeys({ keys: ['make'], enter: true });
 * await lazy.plan.execute(engine);
 */
export class LazyServer {
  readonly plan: Plan;

  constructor(plan: Plan = new Plan()) {
    this.plan = plan;
  }

  newSession(params: NewSession = {}): LazySession {
    const slot = this.plan.add(newSession(params));
    return new LazySession(
      this.plan,
      slot.self,
      new LazyWindow(this.plan, slot.window, new LazyPane(this.plan, slot.pane)),
    );
  }

  /** The session of this name if it is there when the plan runs, else a new one. */
  ensureSession(params: NewSession & { readonly name: string }): LazySession {
    const slot = this.plan.ensure(findSession(params.name), newSession(params));
    return new LazySession(
      this.plan,
      slot.self,
      new LazyWindow(this.plan, slot.window, new LazyPane(this.plan, slot.pane)),
    );
  }

  client(name: string): LazyClient {
    return new LazyClient(this.plan, name);
  }

  sleep(ms: number): this {
    this.plan.host({ type: 'sleep', ms });
    return this;
  }
}

/** What every recorded thing is: a place in a plan, usable as the target of any operation. */
class LazyHandle<T extends Target> {
  readonly plan: Plan;
  readonly ref: T;

  constructor(plan: Plan, ref: T) {
    this.plan = plan;
    this.ref = ref;
  }

  protected record<P, V>(operation: Operation<P, V>): this {
    this.plan.add(operation);
    return this;
  }
}

/**
 * A session that a plan will make.
 *
 * @example new LazyServer().newSession({ name: 'work' }).rename('renamed').plan.preview('3.4')
 */
export class LazySession extends LazyHandle<Ref<SessionId>> {
  readonly window: LazyWindow;

  constructor(plan: Plan, ref: Ref<SessionId>, window: LazyWindow) {
    super(plan, ref);
    this.window = window;
  }

  get pane(): LazyPane {
    return this.window.pane;
  }

  newWindow(params: Omit<NewWindow, 'target'> = {}): LazyWindow {
    const slot = this.plan.add(newWindow({ target: this.ref, ...params }));
    return new LazyWindow(this.plan, slot.self, new LazyPane(this.plan, slot.pane));
  }

  rename(name: string): this {
    return this.record(renameSession({ target: this.ref, name }));
  }

  kill(): this {
    return this.record(killSession({ target: this.ref }));
  }
}

/**
 * A window that a plan will make.
 *
 * @example new LazyServer().newSession().newWindow({ name: 'logs' }).selectLayout('tiled').plan.preview('3.4')
 */
export class LazyWindow extends LazyHandle<Ref<WindowId>> {
  readonly pane: LazyPane;

  constructor(plan: Plan, ref: Ref<WindowId>, pane: LazyPane) {
    super(plan, ref);
    this.pane = pane;
  }

  split(params: Omit<SplitWindow, 'target'> = {}): LazyPane {
    return new LazyPane(this.plan, this.plan.add(splitWindow({ target: this.ref, ...params })).pane);
  }

  rename(name: string): this {
    return this.record(renameWindow({ target: this.ref, name }));
  }

  select(): this {
    return this.record(selectWindow({ target: this.ref }));
  }

  selectLayout(layout: string): this {
    return this.record(selectLayout({ target: this.ref, layout }));
  }

  kill(): this {
    return this.record(killWindow({ target: this.ref }));
  }
}

/**
 * A pane that a plan will make.
 *
 * @example new LazyServer().newSession().pane.sendKeys({ keys: ['make'], enter: true }).plan.preview('3.4')
 */
export class LazyPane extends LazyHandle<Ref<PaneId>> {
  split(params: Omit<SplitWindow, 'target'> = {}): LazyPane {
    return new LazyPane(this.plan, this.plan.add(splitWindow({ target: this.ref, ...params })).pane);
  }

  newPane(params: Omit<NewPane, 'target'> = {}): LazyPane {
    return new LazyPane(this.plan, this.plan.add(newPane({ target: this.ref, ...params })).pane);
  }

  sendKeys(params: Omit<SendKeys, 'target'>): this {
    return this.record(sendKeys({ target: this.ref, ...params }));
  }

  /** Its lines are in the result of this step when the plan has run. */
  capture(params: Omit<CapturePane, 'target'> = {}): this {
    return this.record(capturePane({ target: this.ref, ...params }));
  }

  select(): this {
    return this.record(selectPane({ target: this.ref }));
  }

  kill(): this {
    return this.record(killPane({ target: this.ref }));
  }
}

/**
 * A client that a plan will act on.
 *
 * @example new LazyServer().client('/dev/pts/3').detach().plan.preview('3.4')
 */
export class LazyClient {
  readonly plan: Plan;
  readonly name: string;

  constructor(plan: Plan, name: string) {
    this.plan = plan;
    this.name = name;
  }

  detach(): this {
    this.plan.add(detachClient({ target: { client: this.name } }));
    return this;
  }

  refresh(): this {
    this.plan.add(refreshClient({ target: { client: this.name } }));
    return this;
  }

  switchTo(session: Target): this {
    this.plan.add(switchClient({ client: { client: this.name }, target: session }));
    return this;
  }
}
