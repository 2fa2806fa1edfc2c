import { BadOption } from "@durable-payments/tools/command";
import { randomInt } from "node:crypto";
import { type ServiceKind, SERVICES } from "./service/service.ts";

/** The options of the command, as `parseArgs` takes them. */
export const chaosOptions = {
  runs: { type: "string", default: "200" },
  seed: { type: "string" },
  minutes: { type: "string", default: "6" },
  service: { type: "string", default: "simulator" },
  restore: { type: "string", multiple: true },
  lose: { type: "string" },
  encrypt: { type: "boolean" },
  quiet: { type: "boolean" },
} as const;

/** What is done to a database in the middle. */
export type Loss = "restore temporal" | "restore ledger" | "lose ledger";

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
  /** Whether data is encrypted, the key replaced in the middle, and the old key missing for a while. */
  readonly encrypt: boolean;
}

export const help = `Usage: npm run chaos [-- OPTIONS]

Starts onboardings and payouts on a real Temporal server with a database file, a service that
remembers what it did, and two workers with a ledger; loses, delays and garbles answers; kills and
freezes workers, kills service and server; ends, terminates, resets, overrules and retries runs;
answers what runs ask. Then it compares what the service did with what the runs say, and with the
ledger. chaos/README.md says where things are.

Options:
  --runs N            runs to start (200)
  --seed N            decides everything that is random (a new one each time; it is printed)
  --minutes M         when a run that has not ended counts as stuck (6)
  --service KIND      simulator, or independent: a service that shares no code with the client, shows
                      no keys, loses answers and lists late (simulator)
  --restore WHAT      temporal or ledger: in the middle it is restored to an earlier copy of itself
  --lose ledger       in the middle the ledger is deleted
  --encrypt           encrypts what Temporal and the ledger store; in the middle the key is replaced,
                      and the old key is missing for some seconds
  --quiet             no progress on standard error
  --help              shows this text

Exit codes: 0 no duplicates, nothing lost, wrong or stuck; 1 otherwise; 2 bad options;
130 interrupted.
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
interface Given {
  readonly runs: string;
  readonly seed?: string | undefined;
  readonly minutes: string;
  readonly service: string;
  readonly restore?: ReadonlyArray<string> | undefined;
  readonly lose?: string | undefined;
  readonly encrypt?: boolean | undefined;
}

/**
 * Reads the options of the command line.
 *
 * @throws BadOption naming the first invalid value.
 */
export const readOptions = (given: Given): ChaosOptions => {
  const { lose, restore = [], seed = String(randomInt(1_000_000)) } = given;
  const losses: ReadonlyArray<Loss> = [
    ...restore.map((one): Loss => `restore ${oneOf("--restore", ["temporal", "ledger"], one)}`),
    ...(lose === undefined ? [] : [`lose ${oneOf("--lose", ["ledger"], lose)}` as const]),
  ];
  // Both at once is outside of what is promised.
  if (losses.length > 1) throw new BadOption("Give one --restore, or --lose, at a time.");
  return {
    runs: number("--runs", given.runs, [2, 2_000]),
    seed: number("--seed", seed, [0, 2 ** 32 - 1]),
    minutes: number("--minutes", given.minutes, [1, 120]),
    service: oneOf("--service", SERVICES, given.service),
    loss: losses[0],
    encrypt: given.encrypt === true,
  };
};
