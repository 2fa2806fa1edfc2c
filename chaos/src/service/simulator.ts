import type { Temperament } from "@durable-payments/simulator";
import { choosePort, type Spawn } from "@durable-payments/tools/stack";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { supervise } from "../environment/supervised-process.ts";
import { type Made, START_BALANCES } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import type { OddAnswers } from "./odd-answers.ts";
import type { SimulatorProcessOptions } from "./simulator-process.ts";
import {
  asMade,
  ASSUMED,
  COMPLETED_WORD,
  LONGEST_RETURN_MS,
  type Service,
  SETTLE_AFTER_MS,
  controlOf,
  VERIFY_AFTER_MS,
} from "./service.ts";

/** Zones in which the service may write times, in minutes east of UTC. */
const ZONES = [480, 330, -300] as const;

const DAY_MS = 86_400_000;

/** The temperament that may be drawn; each field is compatible with every value of the others. */
const FIELDS = {
  listLagMs: (random) => random.int(0, 2_500),
  clockOffsetMs: (random) => random.int(-DAY_MS, DAY_MS),
  amounts: (random) => random.pick(["grouped", "short", "four-digits", "number"]),
  payoutKeys: (random) => random.pick(["replaced", "dropped"]),
  coding: (random) => random.pick(["gzip", "br", "deflate"]),
  outage: (random) => ({
    kind: random.pick(["reset", "503"]),
    afterMs: random.int(5_000, 30_000),
    forMs: random.int(5_000, 15_000),
  }),
} satisfies { readonly [Name in keyof Temperament]: (random: Random) => Temperament[Name] };

const ODD_FIELDS = {
  zoneMinutes: (random) => random.pick(ZONES),
  statuses: (random) =>
    random.pick<Readonly<Record<string, string>>>([
      { processing: "in_review" },
      { processing: "IN REVIEW", pending: "queued" },
      // A word for the end that nobody listed: a person says what it means.
      { completed: COMPLETED_WORD },
    ]),
  writeAnswers: (random) => random.pick(["ids", "nulls"]),
  nullLists: (random) => random.between(0, 0.04),
  // Low, because a person is asked about an incomplete list only after half an hour; for the same reason totals are there.
  omittedRows: (random) => random.between(0, 0.003),
  duplicateRows: (random) => random.between(0, 0.04),
  // A row without an id hides what was made for good, and a cardholder without a status is waited for, for days.
  oddRows: (random) => random.between(0, 0.02),
} satisfies { readonly [Name in keyof OddAnswers]: (random: Random) => OddAnswers[Name] };

/** The probability that a field differs from what the document shows. */
const SHARE = 0.25;

const draw = (fields: Readonly<Record<string, (random: Random) => unknown>>, seed: number) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, drawn]) => {
      // A stream for each, so that a field more does not change the others of a seed.
      const random = new Random(seed, `service/${field}`);
      return random.chance(SHARE) ? [[field, drawn(random)]] : [];
    }),
  );

/** Starts the simulator with a state file, in every mood: it is killed, and takes faults of requests. */
export const startSimulatorProcess = async (
  folder: string,
  seed: number,
  spawn: Spawn,
  account: string | undefined,
): Promise<Service> => {
  const port = await choosePort();
  const name = account === undefined ? "simulator" : `simulator-${account}`;
  const credentials = { clientId: `chaos-${name}`, apiKey: `key-of-${name}` };
  const returns = new Random(seed, "service/returns");
  const temperament: Temperament = {
    ...draw(FIELDS, seed),
    returns: {
      share: returns.between(0.1, 0.4),
      afterMs: returns.int(0, LONGEST_RETURN_MS),
      status: returns.pick(["returned", "reversed"]),
    },
  };
  const odd: OddAnswers = draw(ODD_FIELDS, seed);
  const given: SimulatorProcessOptions = {
    odd,
    seed,
    options: {
      ...credentials,
      port,
      stateFile: join(folder, `${name}.jsonl`),
      // In some campaigns so long that people act, and databases are restored, before payouts complete; or that all
      // payouts of an account are open, and their runs wait, until nothing breaks any more.
      settleAfter: new Random(seed, "settling").pick([1, 1, 1, 4, 20]) * SETTLE_AFTER_MS,
      verifyAfter: VERIFY_AFTER_MS,
      tokenLifetime: new Random(seed, "tokens").int(20_000, 60_000),
      balances: START_BALANCES,
      temperament,
    },
  };
  const file = fileURLToPath(new URL("simulator-process.ts", import.meta.url));
  const args = ["--conditions=@durable-payments/source", file, JSON.stringify(given)];
  const supervised = supervise(`the ${name}`, (start) =>
    spawn(`${name}-${start}`, process.execPath, args),
  );
  await supervised.start();
  const url = `http://127.0.0.1:${port}`;
  const control = controlOf(url);
  const { clockOffsetMs = 0 } = temperament;
  const made = (
    operation: Made["operation"],
    record: { readonly create_time: string },
    id: string,
    isUndone: boolean,
  ): Made => {
    const at = Date.parse(record.create_time) - clockOffsetMs;
    return asMade(operation, { ...record }, { id, at, isUndone });
  };
  return {
    account,
    url,
    ...credentials,
    behaviour: { ...temperament, ...odd },
    assumptions: ASSUMED,
    simulator: { account, process: supervised, control },
    ledger: async () => {
      const { balances, beneficiaries, cardholders, cards, payouts } = await control.ledger();
      const emails = new Map(
        cardholders.map(({ card_holder_id, email }) => [card_holder_id, email]),
      );
      return {
        balances,
        beneficiaries,
        returning: payouts.filter(
          ({ due_at, payout_status }) => payout_status === "completed" && due_at !== undefined,
        ).length,
        made: [
          ...payouts.map((one) => made("createPayout", one, one.payout_id, one.returned)),
          ...cardholders.map((one) =>
            made("createCardholder", one, one.card_holder_id, one.removed),
          ),
          ...cards.map(({ card_id, card_status, ...card }) => {
            const record = { ...card, email: emails.get(card.card_holder_id) };
            return made("createCard", record, card_id, card_status === "cancelled");
          }),
        ],
      };
    },
    end: () => supervised.end(),
  };
};
