import { Random } from "../plan/random.ts";

/** How the service behaves in a chaos run, and what its workers assume of it. */
export interface Temperament {
  /** The simulator's `--temperament` (packages/simulator/README.md). */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The worker's `PAYMENTS_ASSUMPTIONS`: allowances, and what any one answer shows. */
  readonly assumptions: Readonly<Record<string, unknown>>;
}

/** What every worker assumes of how late lists may be, in seconds; no lag that is drawn exceeds it. */
export const LIST_LAG_SECONDS = 3;

const LARGEST_LAG_MS = 2_500;

/** Less than the quarter of an hour by which the clocks are assumed to differ at most. */
const LARGEST_CLOCK_OFFSET_MS = 12 * 60_000;

/** Zones in which the service may write times, by their minutes east of UTC. */
const ZONES: Readonly<Record<number, string>> = {
  0: "UTC",
  480: "Asia/Singapore",
  330: "Asia/Kolkata",
  [-300]: "Etc/GMT+5",
};

type Draw = (random: Random) => unknown;

const oneOf =
  (...values: readonly [unknown, ...unknown[]]): Draw =>
  (random) =>
    random.pick(values);

const upTo =
  (largest: number): Draw =>
  (random) =>
    Math.round(random.between(0, largest) * 1_000) / 1_000;

const sometimes: Draw = (random) => random.chance(0.5);

/** What may be drawn; each field goes with every value of the others. */
const FIELDS: Readonly<Record<string, Draw>> = {
  listLagMs: (random) => random.int(0, LARGEST_LAG_MS),
  listLagBy: oneOf("list", "row", "page"),
  oldestFirst: sometimes,
  shiftingPages: upTo(0.06),
  // Of a hundred rows: a list that seldom adds up is only asked about after half an hour.
  omittedRows: upTo(0.003),
  duplicateRows: upTo(0.04),
  oddRows: upTo(0.02),
  // A row that shows no id hides what was made for good, which differs from a lag only after an hour; a
  // cardholder whose row never shows a status is rightly waited for, for days.
  oddRowForm: oneOf("nulls-but-status", "odd-but-status"),
  nullLists: upTo(0.04),
  clockOffsetMs: (random) => random.int(-LARGEST_CLOCK_OFFSET_MS, LARGEST_CLOCK_OFFSET_MS),
  times: oneOf("utc", "offset", "local", "local-blank", "date", "seconds", "milliseconds"),
  zoneMinutes: (random) => random.pick([0, 480, 330, -300]),
  unsetTime: oneOf(
    "0001-01-01T00:00:00Z",
    "0000-12-31T19:03:58-04:56",
    "1970-01-01T00:00:00Z",
    "0000-00-00 00:00:00",
    "0",
    0,
    "-",
    "",
    null,
    "missing",
  ),
  texts: oneOf("as-given", "upper", "trimmed", "squeezed", "nfkc", "all"),
  amounts: oneOf("plain", "grouped", "short", "one-digit", "four-digits", "number"),
  payoutKeys: oneOf("echoed", "replaced", "dropped"),
  writeAnswers: oneOf("documented", "ids", "nulls", "odd"),
  statuses: oneOf({}, { processing: "in_review" }, { processing: "IN REVIEW", pending: "queued" }),
  refusals: oneOf("envelope", "in-200"),
  coding: oneOf("identity", "gzip", "br", "deflate"),
  idleTokenMs: (random) => random.int(10_000, 20_000),
  tokenMs: (random) => random.int(20_000, 60_000),
  outage: (random) => ({
    kind: random.pick(["refused", "reset", "503"]),
    afterMs: random.int(5_000, 30_000),
    forMs: random.int(5_000, 15_000),
  }),
  stalls: upTo(0.03),
};

/** The probability that a field differs from what the document shows. */
const SHARE = 0.25;

/** Draw how the service behaves: a few settings at a time, in every combination. */
export const drawTemperament = (seed: number): Temperament => {
  const settings: Record<string, unknown> = {};
  for (const [field, draw] of Object.entries(FIELDS)) {
    // A stream for each, so that a field more does not change the others of a seed.
    const random = new Random(seed, `temperament/${field}`);
    const isDrawn = random.chance(SHARE);
    // The form of odd rows by default hides the status for good, which is rightly waited for.
    const isNeeded = field === "oddRowForm" && "oddRows" in settings;
    if (isDrawn || isNeeded) settings[field] = draw(random);
  }
  // Any one answer shows its time zone.
  const timeZone = ZONES[Number(settings["zoneMinutes"] ?? 0)] ?? "UTC";
  return { settings, assumptions: { listLagSeconds: LIST_LAG_SECONDS, timeZone } };
};
