import { PolyError } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const completionCommands: readonly Command[] = [
  command({
    name: 'completion',
    summary: 'Prints what makes a shell complete poly’s commands, flags, panes and actions.',
    args: [`<${shells.join('|')}>`],
    examples: [
      'poly completion bash > ~/.local/share/bash-completion/completions/poly',
      'poly completion zsh > ~/.zsh/completions/_poly',
      'poly completion fish > ~/.config/fish/completions/poly.fish',
    ],
    async run({ args: [shell = ''], out, json }) {
      const { scripts } = await import('../completion-scripts.ts');
      const script = Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : undefined;
      if (script === undefined)
        throw new PolyError('invalid_arguments', `there is no completion for "${shell}".`, {
          hint: `There is ${shells.join(', ')}.`,
        });
      if (json) out.json({ shell, script });
      else out.line(script.trim());
    },
  }),
];
