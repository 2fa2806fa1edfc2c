import { BadOption } from "@durable-payments/tools/command";
import { randomInt } from "node:crypto";
import { type ServiceKind, SERVICES } from "./service/service.ts";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string", default: "200" },
  seed: { type: "string" },
  minutes: { type: "string", default: "6" },
  service: { type: "string", default: "simulator" },
  ledger: { type: "string", default: "sqlite" },
  restore: { type: "string" },
  lose: { type: "string" },
  quiet: { type: "boolean" },
} as const;

/** Where the ledger of a campaign is. */
const LEDGERS = ["sqlite", "postgres"] as const;

/** The loss of a database in the middle; a ledger in PostgreSQL fails over. */
export type Loss =
  | "restore temporal"
  | "restore ledger"
  | "restore both"
  | "lose ledger"
  | "fail over";

/** Whether it may forget what people decided just before. */
export const forgetsDecisions = (loss: Loss | undefined): boolean =>
  loss !== undefined && loss !== "restore temporal";

/** The settings of one campaign. */
export interface ChaosOptions {
  readonly runs: number;
  /** Everything random follows from it. */
  readonly seed: number;
  /** When runs that have not ended count as stuck. */
  readonly minutes: number;
  readonly service: ServiceKind;
  readonly ledger: (typeof LEDGERS)[number];
  /** What happens to a database in the middle. */
  readonly loss: Loss | undefined;
}

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
  --restore WHAT  temporal, ledger or both: restores earlier copies in the middle
  --lose ledger   deletes the ledger in the middle
  --quiet         prints no progress on standard error
  --help          shows this text

Exit codes: 0 nothing was duplicated, lost, wrong, stuck or unapproved, and nothing crashed; 1 otherwise; 2 invalid options; 130 interrupted.
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
type Given = Readonly<
  Record<"runs" | "minutes" | "service" | "ledger", string> &
    Partial<Record<"seed" | "restore" | "lose", string | undefined>>
>;

/**
 * Reads the options of the command line.
 *
 * @throws BadOption naming the first invalid value.
 */
export const readOptions = (given: Given): ChaosOptions => {
  const { lose, restore, seed = String(randomInt(1_000_000)) } = given;
  const ledger = oneOf("--ledger", LEDGERS, given.ledger);
  if (lose !== undefined && restore !== undefined) throw new BadOption("Give --restore or --lose.");
  const losses = {
    restore:
      restore &&
      (`restore ${oneOf("--restore", ["temporal", "ledger", "both"], restore)}` as const),
    lose: lose && (`lose ${oneOf("--lose", ["ledger"], lose)}` as const),
  };
  const loss = losses.restore || losses.lose || undefined;
  if (loss !== undefined && ledger === "postgres") {
    throw new BadOption("Give --restore or --lose with --ledger sqlite: PostgreSQL fails over.");
  }
  return {
    runs: number("--runs", given.runs, [2, 2_000]),
    seed: number("--seed", seed, [0, 2 ** 32 - 1]),
    minutes: number("--minutes", given.minutes, [1, 120]),
    service: oneOf("--service", SERVICES, given.service),
    ledger,
    loss: ledger === "postgres" ? "fail over" : loss,
  };
};
