import { randomInt } from "node:crypto";
import { resolve } from "node:path";
import { BadOption } from "../run-command.ts";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string" },
  seed: { type: "string" },
  minutes: { type: "string" },
  worker: { type: "string" },
  "echo-keys": { type: "string" },
  quiet: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** What a chaos run is told. */
export interface ChaosOptions {
  readonly runs: number;
  /** Everything random follows from it. */
  readonly seed: number;
  /** When runs that have not ended count as stuck. */
  readonly minutes: number;
  /** Main file of a worker; the project's own where it is left out. */
  readonly worker: string | undefined;
  /** Whether the service shows the `unique_request_id` of a payout. */
  readonly echoKeys: boolean;
}

const DEFAULTS = { runs: 200, minutes: 6 };

export const help = `Usage: npm run chaos [-- OPTIONS]

Starts onboardings and payouts on a real Temporal server with a database file, the simulator with a
state file, and two workers; breaks requests in every way that the simulator knows; kills workers,
simulator and server while they run, and restarts them; answers what asks for a person. Then it
compares the ledger of the simulator with what the runs say. docs/chaos.md tells more.

Options:
  --runs N            runs to start, half onboardings, half payouts (${DEFAULTS.runs})
  --seed N            decides everything that is random (a new one each time; it is printed)
  --minutes M         when a run that has not ended counts as stuck (${DEFAULTS.minutes})
  --worker PATH       main file of the worker (apps/worker/src/main.ts)
  --echo-keys YES     whether the service shows the keys of payouts, true or false (true)
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

const yesOrNo = (option: string, text: string): boolean => {
  if (text === "true" || text === "false") return text === "true";
  throw new BadOption(`${option} must be true or false; got "${text}".`);
};

type Given = { readonly [Name in keyof typeof chaosOptions]?: string | boolean | undefined };

const text = (value: string | boolean | undefined, byDefault: number | string): string =>
  typeof value === "string" ? value : String(byDefault);

/**
 * Reads the options of the command line.
 *
 * @throws BadOption naming the first one that has a value it cannot have
 */
export const readOptions = (given: Given): ChaosOptions => ({
  runs: wholeNumber("--runs", text(given.runs, DEFAULTS.runs), { from: 2, to: 2_000 }),
  seed: wholeNumber("--seed", text(given.seed, randomInt(1_000_000)), { from: 0, to: 2 ** 32 - 1 }),
  minutes: minutesOf(text(given.minutes, DEFAULTS.minutes)),
  // npm runs its scripts in the folder of the checkout, wherever the user is.
  worker:
    typeof given.worker === "string"
      ? resolve(process.env["INIT_CWD"] ?? "", given.worker)
      : undefined,
  echoKeys: yesOrNo("--echo-keys", text(given["echo-keys"], "true")),
});
