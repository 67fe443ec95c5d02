/** What an agent does, in the colour in which it is shown; anything else is dim. */
export const statusColours: Readonly<Record<string, 'yellow' | 'green' | 'red' | 'cyan'>> = {
  blocked: 'yellow',
  done: 'green',
  error: 'red',
  running: 'cyan',
};
