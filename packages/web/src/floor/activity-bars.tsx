import type { SessionActivity } from '@polyphony/protocol';
import type { JSX } from 'react';
import { dayOf, type Stretch, timeOf } from '../page/stretch.ts';

interface ActivityBarsProps {
  readonly stretch: Stretch;
  /** Nothing happened where there is none. */
  readonly activity: SessionActivity | undefined;
  /** The most that happened in one part of any session, so that their bars can be compared. */
  readonly most: number;
}

const height = 24;
/** Below the bars stands a mark where somebody asked for something. */
const floorHeight = 4;

/** How much happened in a session, part by part. */
export function ActivityBars({ stretch, activity, most }: ActivityBarsProps): JSX.Element {
  const { parts, labels } = stretch;
  const { entries = [], prompts = [] } = activity ?? {};
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  const between = parts / labels.length;
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${parts} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Activity: ${sum(entries)} entries, ${sum(prompts)} prompts`}
    >
      {labels.map((label, index) => (
        <rect key={label} className="tick" x={index * between} y="0" width="0.06" height={height} />
      ))}
      <rect className="tick" x="0" y={height - floorHeight} width={parts} height="0.6" />
      {entries.map((count, part) => {
        if (count === 0) return null;
        const tall = barHeight(count, most);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is nothing but its place.
          <g key={part}>
            <title>{titleOf(stretch, part, count, prompts[part] ?? 0)}</title>
            <rect
              className="bar-of"
              x={part + 0.14}
              y={height - floorHeight - tall}
              width="0.72"
              height={tall}
            />
            {(prompts[part] ?? 0) > 0 && (
              <rect
                className="asked"
                x={part + 0.14}
                y={height - floorHeight + 1.2}
                width="0.72"
                height={floorHeight - 1.2}
              />
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** By the root, so that little beside much is still seen. */
function barHeight(count: number, most: number): number {
  return Math.max(1.5, (height - floorHeight) * Math.sqrt(count / Math.max(1, most)));
}

function titleOf({ from, partMs }: Stretch, part: number, count: number, prompts: number): string {
  const begin = from + part * partMs;
  const asked = prompts === 0 ? '' : `, ${prompts === 1 ? '1 prompt' : `${prompts} prompts`}`;
  return `${dayOf(begin)}, ${timeOf(begin)} to ${timeOf(begin + partMs)}: ${count === 1 ? '1 entry' : `${count} entries`}${asked}`;
}
