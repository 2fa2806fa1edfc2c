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

/** Measures one contender once. */
type Measure<Reading> = (round: number) => Promise<Reading>;

/**
 * Measures every contender once a round, each round beginning with another one, so that what
 * changes on the machine meanwhile strikes them all alike. One after the other, never at once.
 */
export const interleave = async <Name extends string, Reading>(
  contenders: Readonly<Record<Name, Measure<Reading>>>,
  rounds: number,
  { progress, signal }: Pick<BenchContext, "progress" | "signal">,
): Promise<Record<Name, ReadonlyArray<Reading>>> => {
  const names: Array<Name> = [];
  // Filled with a list for each name at once.
  const readings = {} as Record<Name, Array<Reading>>;
  for (const name in contenders) {
    names.push(name);
    readings[name] = [];
  }
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`);
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      signal.throwIfAborted();
      readings[name].push(await contenders[name](round));
    }
  }
  return readings;
};
