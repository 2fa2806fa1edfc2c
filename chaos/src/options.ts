import { BadOption } from "@durable-payments/tools/command";
import { randomInt } from "node:crypto";
import type { parseArgs } from "node:util";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string", default: "200" },
  seed: { type: "string" },
  minutes: { type: "string", default: "6" },
  service: { type: "string", default: "simulator" },
  ledger: { type: "string", default: "sqlite" },
  restore: { type: "string" },
  quiet: { type: "boolean" },
} as const;

/** The database that is restored in the middle; `nothing` deletes the ledger, `no-temporal` deletes Temporal's database. */
const RESTORES = ["temporal", "ledger", "both", "nothing", "no-temporal"] as const;

export const help = `Usage: npm run chaos [-- OPTIONS]

Starts onboardings and payouts of two accounts on a Temporal server with a database file, a payment
service for each account, and two workers with a ledger. Meanwhile it loses, delays and garbles answers, kills and freezes processes,
cancels, terminates, resets and retries runs, and answers their questions. At the end it compares the
records of the service with the results of the runs and with the ledger. chaos/README.md describes
the code.

Options:
  --runs N        runs to start (200)
  --seed N        seed of everything random (by default chosen at random, and printed)
  --minutes M     minutes after which an open run counts as stuck (6)
  --service KIND  simulator, or independent: a service that shares no code with the client, loses
                  answers, lists late, often without keys, and has another clock (simulator)
  --ledger KIND   sqlite, or postgres: its connections break, its commits are slow, its server restarts
                  and fails over to a standby (sqlite)
  --restore WHAT  temporal, ledger or both: restores earlier copies in the middle; nothing: deletes the
                  ledger instead; no-temporal: deletes Temporal's database instead
  --quiet         prints no progress on standard error
  --help          shows this text

Exit codes: 0 nothing was duplicated, lost, wrong, stuck, unapproved or misreported, and nothing crashed; 1 otherwise; 2 invalid options; 130 interrupted.
`;

const number = (option: string, text: string, [from, to]: readonly [number, number]): number => {
  const given = Number(text);
  if (/^\d+$/.test(text) && given >= from && given <= to) return given;
  throw new BadOption(`${option} must be a whole number from ${from} to ${to}; got "${text}".`);
};

const oneOf = <A extends string>(option: string, known: ReadonlyArray<A>, text: string): A => {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new BadOption(`${option} must be ${known.join(" or ")}; got "${text}".`);
};

/** The options as `parseArgs` returns them. */
type Given = ReturnType<typeof parseArgs<{ options: typeof chaosOptions }>>["values"];

/** The settings of one campaign. */
export type ChaosOptions = ReturnType<typeof readOptions>;

/**
 * Reads the options of the command line.
 *
 * @throws BadOption naming the first invalid value.
 */
export const readOptions = (given: Given) => {
  const { restore, seed = String(randomInt(1_000_000)) } = given;
  const ledger = oneOf("--ledger", ["sqlite", "postgres"], given.ledger);
  if (restore !== undefined && ledger === "postgres") {
    throw new BadOption("Give --restore with --ledger sqlite: PostgreSQL fails over.");
  }
  return {
    runs: number("--runs", given.runs, [2, 2_000]),
    /** Everything random follows from it. */
    seed: number("--seed", seed, [0, 2 ** 32 - 1]),
    /** When runs that have not ended count as stuck. */
    minutes: number("--minutes", given.minutes, [1, 120]),
    service: oneOf("--service", ["simulator", "independent"], given.service),
    ledger,
    /** The database that is restored to an earlier copy in the middle; a ledger in PostgreSQL fails over instead. */
    restore: restore === undefined ? undefined : oneOf("--restore", RESTORES, restore),
  };
};
