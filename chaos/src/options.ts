import { isRecord } from "@durable-payments/api-core/values";
import { randomInt } from "node:crypto";
import { resolve } from "node:path";
import { DEFAULT_SHARDS } from "@durable-payments/tools/cluster";
import { BadOption } from "@durable-payments/tools/command";
import { type ServerKind, SERVERS } from "./environment/temporal-server.ts";
import {
  documentedTemperament,
  drawTemperament,
  type Temperament,
  temperamentWith,
} from "./environment/temperament.ts";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string" },
  seed: { type: "string" },
  campaigns: { type: "string" },
  minutes: { type: "string" },
  worker: { type: "string" },
  temperament: { type: "string" },
  server: { type: "string" },
  shards: { type: "string" },
  restore: { type: "boolean" },
  encrypt: { type: "boolean" },
  quiet: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** The settings of one chaos run. */
export interface ChaosOptions {
  readonly runs: number;
  /** Everything random follows from it. */
  readonly seed: number;
  /** When runs that have not ended count as stuck. */
  readonly minutes: number;
  /** Main file of a worker; the project's own where it is left out. */
  readonly worker: string | undefined;
  /** How the service behaves. */
  readonly temperament: Temperament;
  /** Which Temporal server it has. */
  readonly server: ServerKind;
  /** History shards of a cluster. */
  readonly shards: number | undefined;
  /** Whether the server's database is put back to a copy of it in the middle. */
  readonly restore: boolean;
  /** Whether what Temporal stores is encrypted, its key replaced in the middle, and the old one missing for a while. */
  readonly encrypt: boolean;
}

const DEFAULTS = { runs: 200, minutes: 6, campaigns: 1, temperament: "drawn", server: "dev" };

export const help = `Usage: npm run chaos [-- OPTIONS]

Starts onboardings and payouts on a real Temporal server with a database file, the simulator with a
state file, and two workers; injects every fault of the simulator into requests; kills and freezes
workers, kills simulator and server while they run, and restarts them; cancels, terminates, abandons
and retries runs, and pauses sends, by the starter; resolves what runs ask a person. Then it compares
the ledger of the simulator with what the runs say. See docs/chaos.md.

Options:
  --runs N            runs to start (${DEFAULTS.runs})
  --seed N            decides everything that is random (a new one each time; it is printed)
  --campaigns N       so many chaos runs, with the seeds from --seed on, a line for each (${DEFAULTS.campaigns})
  --minutes M         when a run that has not ended counts as stuck (${DEFAULTS.minutes})
  --worker PATH       main file of the worker (chaos/src/worker/chaos-worker.ts)
  --temperament T     how the service behaves: drawn, by the seed; documented, as its document
                      says; or a JSON object of the simulator's --temperament (${DEFAULTS.temperament})
  --server KIND       dev, Temporal's dev server on SQLite, or postgres: its server in several processes,
                      each killed by itself, on PostgreSQL, which is stopped immediately (${DEFAULTS.server})
  --shards N          history shards of --server postgres (${DEFAULT_SHARDS})
  --restore           puts the server's database back to a copy in the middle
  --encrypt           encrypts what Temporal stores; in the middle the key is replaced, and the
                      old one is missing for some seconds
  --quiet             no progress on standard error
  --json              prints one JSON object on standard output instead of the table
  --help              shows this text

Exit codes: 0 no duplicates, nothing lost, wrong or stuck; 1 otherwise; 2 bad options;
130 interrupted.
`;

const wholeNumber = (
  option: string,
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): number => {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= from && number <= to) return number;
  throw new BadOption(`${option} must be a whole number from ${from} to ${to}; got "${text}".`);
};

const minutesOf = (text: string): number => {
  const minutes = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && minutes > 0 && minutes <= 120) return minutes;
  throw new BadOption(`--minutes must be a number above 0, at most 120; got "${text}".`);
};

const temperamentOf = (text: string, seed: number): Temperament => {
  if (text === "drawn") return drawTemperament(seed);
  if (text === "documented") return documentedTemperament;
  try {
    const temperament: unknown = JSON.parse(text);
    // The simulator refuses what it does not know.
    if (isRecord(temperament)) return temperamentWith(temperament);
  } catch {
    // Said below.
  }
  throw new BadOption(
    `--temperament must be drawn, documented or a JSON object; got "${text.slice(0, 40)}".`,
  );
};

const serverOf = (text: string): ServerKind => {
  const known = SERVERS.find((one) => one === text);
  if (known !== undefined) return known;
  throw new BadOption(`--server must be ${SERVERS.join(" or ")}; got "${text}".`);
};

type Given = { readonly [Name in keyof typeof chaosOptions]?: string | boolean | undefined };

const text = (value: string | boolean | undefined, byDefault: number | string): string =>
  typeof value === "string" ? value : String(byDefault);

/**
 * Read the options of the command line: one set for each chaos run.
 *
 * @throws BadOption naming the first one that has a value it cannot have
 */
export const readOptions = (given: Given): readonly [ChaosOptions, ...ChaosOptions[]] => {
  const campaigns = wholeNumber("--campaigns", text(given.campaigns, DEFAULTS.campaigns), {
    from: 1,
    to: 1_000,
  });
  const first = wholeNumber("--seed", text(given.seed, randomInt(1_000_000)), {
    from: 0,
    to: 2 ** 32 - 1_001,
  });
  const runs = wholeNumber("--runs", text(given.runs, DEFAULTS.runs), { from: 2, to: 2_000 });
  const minutes = minutesOf(text(given.minutes, DEFAULTS.minutes));
  const server = serverOf(text(given.server, DEFAULTS.server));
  if (given.shards !== undefined && server === "dev") {
    throw new BadOption("--shards is for --server postgres: the dev server has one.");
  }
  const shards =
    given.shards === undefined
      ? undefined
      : wholeNumber("--shards", String(given.shards), { from: 1, to: 16_384 });
  const optionsOf = (seed: number): ChaosOptions => ({
    runs,
    seed,
    minutes,
    // npm runs its scripts in the folder of the checkout, wherever the user is.
    worker:
      typeof given.worker === "string"
        ? resolve(process.env["INIT_CWD"] ?? "", given.worker)
        : undefined,
    temperament: temperamentOf(text(given.temperament, DEFAULTS.temperament), seed),
    server,
    shards,
    restore: given.restore === true,
    encrypt: given.encrypt === true,
  });
  return [
    optionsOf(first),
    ...Array.from({ length: campaigns - 1 }, (_, index) => optionsOf(first + 1 + index)),
  ];
};
