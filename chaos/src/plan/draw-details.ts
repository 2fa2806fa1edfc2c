import type { Intervention } from "./planned-run.ts";
import type { Random } from "./random.ts";

/** Draw an amount from 1.00 to 900.99. */
export const drawAmount = (random: Random): string =>
  `${random.int(1, 900)}.${String(random.int(0, 99)).padStart(2, "0")}`;

/** Write the same amount in another notation for each second of those that are alike: "12.5", "12.50". */
export const writtenAlike = (whole: number, index: number): string =>
  index % 2 === 0 ? `${whole}.50` : `${whole}.5`;

/** Number from 0001, for the index 0. */
export const numbered = (index: number): string => String(index + 1).padStart(4, "0");

/** Before a run has sent anything, while it sends, and while it waits. */
const LATEST_END_MS = 7_000;

/** Draw what people do with a run of which nothing special is planned: mostly nothing. */
export const drawIntervention = (random: Random, index: number): Intervention | undefined => {
  const [isPlanned, share, afterMs, thenRetry] = [
    // Among the first ones there is each, so that a short run has them too.
    index === 7 || index === 9 || random.chance(0.14),
    random.next(),
    random.int(0, LATEST_END_MS),
    random.chance(0.6),
  ];
  if (!isPlanned) return undefined;
  if (index === 7 || (index !== 9 && share < 0.4)) return { kind: "cancel", afterMs, thenRetry };
  if (index === 9 || share < 0.7) return { kind: "terminate", afterMs, thenRetry };
  return { kind: "abandon", thenRetry };
};
