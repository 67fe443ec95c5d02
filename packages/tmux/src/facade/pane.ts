import { newGuard } from '../operation/guard.ts';
import type { PaneId } from '../operation/target.ts';
import {
  type CapturePane,
  capturePane,
  killPane,
  type NewPane,
  newPane,
  pasteBuffer,
  type ResizePane,
  type RespawnPane,
  resizePane,
  respawnPane,
  type SendKeys,
  type SplitWindow,
  selectPane,
  sendKeys,
  setBuffer,
  splitWindow,
} from '../operations/index.ts';
import { openPanePipe, type PanePipe, type PanePipeOptions } from '../pipe/pane-pipe.ts';
import { type WaitOptions, type WaitResult, waitForOutput } from '../wait/wait-for-output.ts';
import type { ServerAccess } from './server-access.ts';
import { withoutPasteBrackets } from './without-paste-brackets.ts';

/**
 * A live pane.
 *
 * @example
 * const side = await pane.split({ direction: 'right', shell: 'exec cat' });
 * await side.sendText('no word of this is a key: Enter', { enter: true });
 * const lines = await side.capture();
 */
export class Pane {
  readonly server: ServerAccess;
  readonly id: PaneId;

  constructor(server: ServerAccess, id: PaneId) {
    this.server = server;
    this.id = id;
  }

  async split(params: Omit<SplitWindow, 'target'> = {}): Promise<Pane> {
    return new Pane(this.server, (await this.server.run(splitWindow({ target: this.id, ...params }))).paneId);
  }

  /** A floating pane over this one's window (tmux 3.7). */
  async newPane(params: Omit<NewPane, 'target'> = {}): Promise<Pane> {
    return new Pane(this.server, (await this.server.run(newPane({ target: this.id, ...params }))).paneId);
  }

  sendKeys(params: Omit<SendKeys, 'target'>): Promise<unknown> {
    return this.server.run(sendKeys({ target: this.id, ...params }));
  }

  /** Types text as it is, no word of it taken for a key; then Enter if wanted. */
  sendText(text: string, { enter = false }: { readonly enter?: boolean } = {}): Promise<void> {
    return this.server.runAll(
      ...(text === '' ? [] : [sendKeys({ target: this.id, keys: [text], literal: true })]),
      ...(enter ? [sendKeys({ target: this.id, keys: ['Enter'] })] : []),
    );
  }

  /** Pastes text as a terminal would; text cannot leave the brackets a program asked for around a paste. */
  async paste(text: string): Promise<void> {
    const data = withoutPasteBrackets(text);
    const bufferName = `poly-${newGuard()}`;
    if (data !== '')
      await this.server.runAll(
        setBuffer({ bufferName, data }),
        pasteBuffer({ target: this.id, bufferName, delete: true, bracket: true }),
      );
  }

  /** The lines it shows, or those of its history asked for. */
  async capture(params: Omit<CapturePane, 'target'> = {}): Promise<readonly string[]> {
    return (await this.server.run(capturePane({ target: this.id, ...params }))).lines;
  }

  /** Everything it prints from now on, as bytes. */
  pipe(options?: PanePipeOptions): Promise<PanePipe> {
    return openPanePipe(this.server.engine, this.id, options);
  }

  waitFor(options: WaitOptions): Promise<WaitResult> {
    return waitForOutput(this.server, this.id, options);
  }

  select(): Promise<unknown> {
    return this.server.run(selectPane({ target: this.id }));
  }

  resize(params: Omit<ResizePane, 'target'>): Promise<unknown> {
    return this.server.run(resizePane({ target: this.id, ...params }));
  }

  respawn(params: Omit<RespawnPane, 'target'> = {}): Promise<unknown> {
    return this.server.run(respawnPane({ target: this.id, ...params }));
  }

  kill(): Promise<unknown> {
    return this.server.run(killPane({ target: this.id }));
  }
}
