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

/** With their weights; of the first six, a short campaign has each once. */
const KINDS = [
  ["end", 5],
  ["terminate", 3],
  ["reset", 4],
  ["overruled", 2],
  ["cancel", 2],
  ["start again", 2],
  ["end by answer", 2],
] as const;

/** The run of the first kind; every second one after it is of the next. */
const FIRST = 7;

/** Draws what people do with a run of which nothing special is planned: mostly nothing. */
export const drawIntervention = (random: Random, index: number): Intervention | undefined => {
  const isPlanned = random.chance(0.18);
  const drawn = random.weighted(KINDS);
  const [afterMs, isForced] = [random.int(0, LATEST_MS), random.chance(0.5)];
  const place = (index - FIRST) / 2;
  const kind = (place < 6 && KINDS[place]?.[0]) || (isPlanned ? drawn : undefined);
  if (kind === undefined) return undefined;
  if (kind === "end") return { kind, afterMs, isForced };
  return kind === "end by answer" || kind === "start again" ? { kind } : { kind, afterMs };
};
