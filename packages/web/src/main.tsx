import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { HubState } from './page/hub-state.ts';
import { findKey } from './page/session-key.ts';
import { SignIn } from './sign-in.tsx';
import { hasTiles } from './terminals/layout.ts';
import { loadTerminalSoon } from './terminals/load-terminal.ts';

async function main(): Promise<void> {
  const element = document.getElementById('root');
  if (!element) return;
  const root = createRoot(element);
  try {
    // A tile that was open before needs it soon; by then it is here.
    if (hasTiles()) loadTerminalSoon();
    const key = await findKey();
    if (key !== undefined) loadTerminalSoon();
    root.render(key === undefined ? <SignIn /> : <App hub={new HubState(key)} />);
  } catch (error) {
    root.render(<SignIn problem={error instanceof Error ? error.message : String(error)} />);
  }
}

void main();
