/** The surroundings of what is measured. */
export interface BenchContext {
  /** Fewer and shorter rounds: shows that it runs, its figures are rough. */
  readonly quick: boolean;
  /** Says how far it is, on standard error. */
  readonly progress: (text: string) => void;
  /** Aborted when somebody ends the bench. */
  readonly signal: AbortSignal;
  /** Has something ended after the bench, the last one first. */
  readonly defer: (end: () => unknown) => void;
}

/**
 * Measures every contender once a round, each round beginning with another one, so that what
 * changes on the machine meanwhile strikes them all alike. One after the other, never at once.
 */
export const interleave = async <Reading>(
  contenders: Readonly<Record<string, (round: number) => Promise<Reading>>>,
  rounds: number,
  { progress, signal }: Pick<BenchContext, "progress" | "signal">,
): Promise<Record<string, ReadonlyArray<Reading>>> => {
  const readings: Record<string, Array<Reading>> = {};
  const entries = Object.entries(contenders);
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`);
    const first = round % entries.length;
    for (const [name, measure] of [...entries.slice(first), ...entries.slice(0, first)]) {
      signal.throwIfAborted();
      (readings[name] ??= []).push(await measure(round));
    }
  }
  return readings;
};
