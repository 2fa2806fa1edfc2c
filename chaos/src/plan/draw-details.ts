import type { Intervention } from "./planned-run.ts";
import type { Random } from "./random.ts";

/** Draws an amount from 1.00 to 900.99. */
export const drawAmount = (random: Random): string =>
  `${random.int(1, 900)}.${String(random.int(0, 99)).padStart(2, "0")}`;

/** Writes the same amount in another notation for each second of those that are alike: "12.5", "12.50". */
export const writtenAlike = (whole: number, index: number): string =>
  index % 2 === 0 ? `${whole}.50` : `${whole}.5`;

/** Before a run has sent anything, while it sends, and while it waits. */
const LATEST_MS = 7_000;

const KINDS: ReadonlyArray<readonly [Intervention["kind"], number]> = [
  ["end", 5],
  ["end by answer", 2],
  ["overruled", 2],
  ["cancel", 2],
  ["terminate", 3],
  ["reset", 4],
  ["start again", 2],
];

/** Each kind once, by the place of the run: a short campaign has them all. */
const FIRST: ReadonlyMap<number, Intervention["kind"]> = new Map([
  [7, "end"],
  [9, "terminate"],
  [11, "reset"],
  [13, "overruled"],
  [15, "cancel"],
  [17, "start again"],
]);

/** Draws what people do with a run of which nothing special is planned: mostly nothing. */
export const drawIntervention = (random: Random, index: number): Intervention | undefined => {
  const isPlanned = random.chance(0.18);
  const drawn = random.weighted(KINDS);
  const [afterMs, isForced] = [random.int(0, LATEST_MS), random.chance(0.5)];
  const kind = FIRST.get(index) ?? (isPlanned ? drawn : undefined);
  switch (kind) {
    case undefined:
    case "retry":
      return undefined;
    case "end":
      return { kind, afterMs, isForced };
    case "end by answer":
    case "start again":
      return { kind };
    default:
      return { kind, afterMs };
  }
};
