import type { JSX } from 'react';
import { harmless } from './page/harmless.ts';

/** What somebody sees who comes without a key. */
export function SignIn({ problem }: { readonly problem?: string }): JSX.Element {
  return (
    <main className="sign-in">
      <h1>Polyphony</h1>
      {problem !== undefined && <p role="alert">This page was not let in: {harmless(problem)}</p>}
      <p>This page shows the terminals of your hub. To open it, type in a terminal:</p>
      <pre>poly open</pre>
      <p className="dim">
        It prints an address with a ticket that lets one browser in, once, within 30 seconds.
      </p>
    </main>
  );
}
