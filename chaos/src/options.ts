import { BadOption } from "@durable-payments/tools/command";
import { randomInt } from "node:crypto";
import { type ServiceKind, SERVICES } from "./service/service.ts";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string" },
  seed: { type: "string" },
  minutes: { type: "string" },
  service: { type: "string" },
  restore: { type: "string", multiple: true },
  lose: { type: "string" },
  encrypt: { type: "boolean" },
  quiet: { type: "boolean" },
} as const;

/** What is done to a database in the middle. */
const LOSSES = ["restore temporal", "restore ledger", "lose ledger"] as const;

/** One of them. */
export type Loss = (typeof LOSSES)[number];

/** The settings of one campaign. */
export interface ChaosOptions {
  readonly runs: number;
  /** Everything random follows from it. */
  readonly seed: number;
  /** When runs that have not ended count as stuck. */
  readonly minutes: number;
  readonly service: ServiceKind;
  /** What is restored or lost in the middle. */
  readonly loss: Loss | undefined;
  /** Whether what Temporal and the ledger store is encrypted, its key replaced in the middle, and the old one missing for a while. */
  readonly encrypt: boolean;
}

const DEFAULTS = {
  runs: 200,
  minutes: 6,
  service: "simulator",
};

export const help = `Usage: npm run chaos [-- OPTIONS]

Starts onboardings and payouts on a real Temporal server with a database file, a service that
remembers what it did, and two workers with a ledger; loses, delays and garbles answers; kills and
freezes workers, kills service and server; ends, terminates, resets, overrules and retries runs;
answers what runs ask. Then it compares what the service did with what the runs say, and with the
ledger. chaos/README.md says where things are.

Options:
  --runs N            runs to start (${DEFAULTS.runs})
  --seed N            decides everything that is random (a new one each time; it is printed)
  --minutes M         when a run that has not ended counts as stuck (${DEFAULTS.minutes})
  --service KIND      simulator, or independent: a service that shares no code with the client, shows
                      no keys, loses answers and lists late (${DEFAULTS.service})
  --restore WHAT      temporal or ledger: in the middle it is restored to an earlier copy of itself
  --lose ledger       in the middle the ledger is deleted
  --encrypt           encrypts what Temporal and the ledger store; in the middle the key is replaced,
                      and the old one is missing for some seconds
  --quiet             no progress on standard error
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

const oneOf = <A extends string>(option: string, known: ReadonlyArray<A>, text: string): A => {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new BadOption(`${option} must be ${known.join(" or ")}; got "${text}".`);
};

type Given = {
  readonly [Name in keyof typeof chaosOptions]?:
    | string
    | boolean
    | ReadonlyArray<string>
    | undefined;
};

const lossOf = ({ lose, restore }: Given): Loss | undefined => {
  const losses: ReadonlyArray<Loss> = [
    ...(Array.isArray(restore) ? (restore as ReadonlyArray<string>) : []).map(
      (what): Loss => `restore ${oneOf("--restore", ["temporal", "ledger"], what)}`,
    ),
    ...(typeof lose === "string" ? ([`lose ${oneOf("--lose", ["ledger"], lose)}`] as const) : []),
  ];
  const [first, second] = losses;
  // Both at once is outside of what is promised.
  if (second !== undefined) throw new BadOption("Give one --restore, or --lose, at a time.");
  return first;
};

/**
 * Reads the options of the command line.
 *
 * @throws BadOption naming the first invalid value.
 */
export const readOptions = (given: Given): ChaosOptions => {
  const text = (name: keyof Given, byDefault: number | string): string => {
    const value = given[name];
    return typeof value === "string" ? value : String(byDefault);
  };
  return {
    runs: wholeNumber("--runs", text("runs", DEFAULTS.runs), { from: 2, to: 2_000 }),
    seed: wholeNumber("--seed", text("seed", randomInt(1_000_000)), { from: 0, to: 2 ** 32 - 1 }),
    minutes: minutesOf(text("minutes", DEFAULTS.minutes)),
    service: oneOf("--service", SERVICES, text("service", DEFAULTS.service)),
    loss: lossOf(given),
    encrypt: given.encrypt === true,
  };
};
