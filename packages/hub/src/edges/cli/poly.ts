import { main } from './main.ts';

// The one file of the command line that does something when it is loaded: it is what the bundle begins with.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read the output has seen enough, like `head`.
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
void main(process.argv.slice(2), process.env, process).then((code) => {
  process.exitCode = code;
});
