import type { Offline } from './edges/cli/command.ts';
import { main } from './edges/cli/main.ts';

const offline: Offline = {
  async restoreRecord(from, to) {
    const { migrations } = await import('./store/migrations.ts');
    return (await import('./store/backup.ts')).restoreBackup({ from, to, newest: migrations.length });
  },
  async checkScreens(folder, rules) {
    const { ScreenRules } = await import('./agents/screens/screen-rules.ts');
    return (await import('./agents/screens/recording.ts')).checkRecordings(folder, new ScreenRules(rules));
  },
  async ruleProblems(rules) {
    const { ScreenRules } = await import('./agents/screens/screen-rules.ts');
    return new ScreenRules(rules).problems;
  },
  async capturedEvents() {
    const { adapters } = await import('./capture/adapters/adapters.ts');
    return Object.fromEntries(
      Object.entries(adapters).map(([name, { events }]) => [name, Object.keys(events)]),
    );
  },
  async countCaptured(database) {
    return (await import('./capture/counted.ts')).countCaptured(database);
  },
  initExtension: async (directory) => (await import('./extensions/template.ts')).initExtension(directory),
};

// The one file of the command line that does something when it is loaded: it is what the bundle begins with.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read the output has seen enough, like `head`.
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
void main(process.argv.slice(2), { env: process.env, streams: process, offline }).then((code) => {
  process.exitCode = code;
});
