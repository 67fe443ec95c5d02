import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';
import { CliGround, type Outcome } from './cli-ground.ts';

/** A machine where nothing is installed but what a test puts there; each test has its own home. */
export class InstallGround {
  readonly cli = new CliGround();
  home = '';
  project = '';

  constructor() {
    afterAll(() => this.cli[Symbol.asyncDispose]());
    beforeEach(() => {
      this.home = realpathSync(mkdtempSync(join(this.cli.home, 'home-')));
      this.project = join(this.home, 'work', 'project');
      mkdirSync(this.project, { recursive: true });
    });
  }

  poly(words: string, env: Record<string, string> = {}): Promise<Outcome> {
    const { home } = this;
    const fresh = { HOME: home, POLY_HOME: join(home, '.poly'), PATH: join(home, 'bin') };
    const cleared = ['XDG_CONFIG_HOME', 'CODEX_HOME', 'CLAUDE_CONFIG_DIR', 'GEMINI_CLI_HOME', 'GROK_HOME'];
    return this.cli.run(words.split(' '), {
      cwd: this.project,
      env: { ...Object.fromEntries(cleared.map((name) => [name, undefined])), ...fresh, ...env },
    });
  }

  /** What it prints, where it succeeds and complains of nothing. */
  async ok(words: string, env?: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await this.poly(words, env);
    expect([words, code, stderr.includes('poly: ') ? stderr : '']).toEqual([words, 0, '']);
    return stdout;
  }

  write(file: string, text: string): string {
    const path = join(this.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read(file: string): string {
    return readFileSync(join(this.home, file), 'utf8');
  }

  /** Every file and folder but our own, with what each holds. */
  everything(folder: string = this.home): Record<string, string> {
    return Object.fromEntries(
      readdirSync(folder, { withFileTypes: true, recursive: true })
        .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
        .filter(({ path }) => !path.startsWith(join(this.home, '.poly')))
        .map(({ entry, path }) => [path, entry.isFile() ? readFileSync(path, 'utf8') : 'folder']),
    );
  }
}
