import { type JSX, useState } from 'react';

/** What to type in a terminal, and a button that copies it. */
export function CopyCommand({ command }: { readonly command: string }): JSX.Element {
  const [copied, setCopied] = useState<string>();
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command);
    setCopied(command);
  };
  return (
    <div className="command-box">
      <pre>{command}</pre>
      <button type="button" onClick={() => void copy()}>
        {copied === command ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
