import { useEffect, useState } from 'react';
import type { Scheme } from './terminal-themes.ts';

/** A choice that outlives the tab. */
export function usePreference(name: string, usual: string): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(`poly-${name}`) ?? usual);
  const set = (chosen: string): void => {
    localStorage.setItem(`poly-${name}`, chosen);
    setValue(chosen);
  };
  return [value, set];
}

const light = '(prefers-color-scheme: light)';

/** The colours in use, those chosen or the system's, and the theme that shows the other ones. */
export function useScheme(theme: string): { readonly scheme: Scheme; readonly otherTheme: string } {
  const [system, setSystem] = useState<Scheme>(() => (matchMedia(light).matches ? 'light' : 'dark'));
  useEffect(() => {
    const query = matchMedia(light);
    const onChange = (): void => setSystem(query.matches ? 'light' : 'dark');
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  const scheme = theme === 'dark' || theme === 'light' ? theme : system;
  useEffect(() => {
    document.documentElement.dataset.scheme = scheme;
  }, [scheme]);
  // Back at the system's colours it follows the system again.
  const otherTheme = scheme !== system ? 'system' : scheme === 'dark' ? 'light' : 'dark';
  return { scheme, otherTheme };
}
