import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { HubState } from './hub-state.ts';
import { hasTiles } from './layout.ts';
import { findKey } from './session-key.ts';
import { SignIn } from './sign-in.tsx';

async function main(): Promise<void> {
  const element = document.getElementById('root');
  if (!element) return;
  const root = createRoot(element);
  try {
    // A tile that was open before needs it soon; by then it is here.
    if (hasTiles()) void import('./pane-terminal.ts');
    const key = await findKey();
    if (key !== undefined) void import('./pane-terminal.ts');
    root.render(key === undefined ? <SignIn /> : <App hub={new HubState(key)} />);
  } catch (error) {
    root.render(<SignIn problem={error instanceof Error ? error.message : String(error)} />);
  }
}

void main();
