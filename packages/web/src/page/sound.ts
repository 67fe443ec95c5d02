import { useEffect, useRef } from 'react';

/** A short sound whenever more agents need somebody than before. */
export function useSound(on: boolean, needing: number): void {
  const before = useRef(needing);
  useEffect(() => {
    if (on && needing > before.current) void beep();
    before.current = needing;
  }, [on, needing]);
}

async function beep(): Promise<void> {
  const audio = new AudioContext();
  const tone = new OscillatorNode(audio, { frequency: 660 });
  const volume = new GainNode(audio, { gain: 0.1 });
  tone.connect(volume).connect(audio.destination);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.3);
  tone.onended = () => void audio.close();
  tone.start();
  tone.stop(audio.currentTime + 0.3);
}
