import { type JSX, type ReactNode, useState } from 'react';

interface TeachingProps {
  readonly title: string;
  /** What to type in a terminal. */
  readonly command: string;
  readonly children: ReactNode;
}

/** What stands where nothing is yet: what would be there, and how to begin. */
export function Teaching({ title, command, children }: TeachingProps): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
  };
  return (
    <section className="teaching" aria-label={title}>
      <h2>{title}</h2>
      <p className="dim">{children}</p>
      <div className="command-box">
        <pre>{command}</pre>
        <button type="button" onClick={() => void copy()}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      </div>
    </section>
  );
}
