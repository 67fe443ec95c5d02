import { afterAll, describe, it } from 'vitest';
import { attack, end, hostile, toolsOf } from './mcp-every-tool.ts';

afterAll(end);

describe('a call with hostile text, of every kind', () => {
  it.each(toolsOf('mutating').map((tool) => [tool.name, tool] as const))(
    'of %s runs nothing, breaks nothing, and is answered in few words',
    (_, tool) => attack(tool, hostile),
  );
});
