import { createClient } from "@durable-payments/client";
import type { Input } from "@durable-payments/client/effect";
import type { FaultOrder, ServiceBooks, OrderedFault } from "@durable-payments/simulator";
import { Effect, Schedule } from "effect";
import type { ExistingBeneficiary, Made } from "../plan/planned-run.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";

/** Time from the creation of a payout to its settlement. */
export const SETTLE_AFTER_MS = 4_000;

/** Time from the creation of a cardholder to the end of the identity check. */
export const VERIFY_AFTER_MS = 3_000;

/** Statuses of a payout that came back after it had completed. */
export const CAME_BACK: ReadonlySet<string> = new Set(["returned", "reversed"]);

/** The longest time from the completion of a payout to its return. */
export const LONGEST_RETURN_MS = 30_000;

/** How long the workers watch completed payouts: readings are at most a tenth of it apart. */
export const WATCHED_FOR = "3 minutes";

/** How long a request may be on its way, if it was sent before a decision, a pause or a kill. */
export const ON_ITS_WAY_MS = 3_500;

/** A service's own word for a payout that has completed. */
export const COMPLETED_WORD = "Paid out";

/**
 * Assumptions of the workers about each service. No lag of a list that is drawn exceeds its seconds; the clocks of a service's
 * servers differ so little that a campaign of minutes reads its lists in windows.
 */
export const ASSUMED = { listLagSeconds: 3, clockSkewSeconds: 1 };

/** The true records of a service, even if it shows others. */
export interface ServiceLedger {
  readonly balances: ReadonlyArray<Readonly<Record<"currency" | "available_balance", string>>>;
  readonly beneficiaries: ReadonlyArray<{
    readonly beneficiary_id: string;
    readonly details: Readonly<Record<string, unknown>>;
  }>;
  readonly made: ReadonlyArray<Made>;
  /** Number of completed payouts that are about to come back. */
  readonly returning: number;
}

/** The first of these fields that is there. Amounts are numbers in some requests. */
const textOf = (fields: Readonly<Record<string, unknown>>, ...names: ReadonlyArray<string>) => {
  const value = names.map((name) => fields[name]).find((one) => one !== undefined && one !== "");
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

/** Returns what was made, by the fields of its request or of its record. */
export const asMade = (
  operation: Made["operation"],
  fields: Readonly<Record<string, unknown>>,
  known: Pick<Made, "id" | "at" | "isUndone">,
): Made => ({
  ...known,
  operation,
  mark: textOf(fields, "payout_reason", "email") ?? "",
  amount: textOf(fields, "amount", "card_limit") ?? "0",
  currency: textOf(fields, "currency") ?? (operation === "createCard" ? "USD" : ""),
  status: textOf(fields, "payout_status") ?? "completed",
  payee: textOf(fields, "beneficiary_id") ?? "",
});

const TIMEOUT_MS = 5_000;

/** The simulator did not answer: it was killed, and is started again. */
class SimulatorUnavailable extends Error {
  override readonly name = "SimulatorUnavailable";
}

/** Runs until the simulator answers no more; then does nothing. */
export const ignoreUnavailable = (error: unknown): undefined => {
  if (!(error instanceof SimulatorUnavailable)) throw error;
};

/** The simulator's control endpoint: its ledger, its faults, its funds. */
export const controlOf = (simulator: string) => {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = fetch(`${simulator}/_simulator/${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const [status, text] = await answer
      .then(async (got) => [got.status, await got.text()] as const)
      .catch((cause: unknown) => {
        throw new SimulatorUnavailable(`No answer to ${method} ${path}.`, { cause });
      });
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  // Answers are of our own simulator, as its types say.
  return {
    ledger: async () => (await ask("GET", "state")) as ServiceBooks,
    faults: async () => (await ask("GET", "faults")) as ReadonlyArray<OrderedFault>,
    clearFaults: () => ask("DELETE", "faults"),
    inject: (fault: FaultOrder) => ask("POST", "faults", fault),
    /** Pays an amount into a balance. */
    fund: (currency: string, amount: string) =>
      ask("POST", `balances/${currency}/fund`, { amount }),
  };
};

/** See {@link controlOf}. */
export type SimulatorControl = ReturnType<typeof controlOf>;

/** The service of a campaign. */
export interface Service {
  /** The name of the account that pays by it; undefined for the unnamed account. */
  readonly account: string | undefined;
  readonly url: string;
  readonly clientId: string;
  readonly apiKey: string;
  /** How it behaves, for the report. */
  readonly behaviour: Readonly<Record<string, unknown>>;
  /** The workers' setting `assumptions`. */
  readonly assumptions: Readonly<Record<string, unknown>>;
  /** The simulator: a process that is killed, and takes faults of requests. */
  readonly simulator?: {
    readonly account: string | undefined;
    readonly process: SupervisedProcess;
    readonly control: SimulatorControl;
  };
  /**
   * Reads the true records, even if the service shows others.
   *
   * @throws SimulatorUnavailable while it is down.
   */
  readonly ledger: () => Promise<ServiceLedger>;
  readonly end: () => Promise<void>;
}

/** Creates beneficiaries, as soon as the service answers. */
export const createBeneficiaries = async (
  { account, apiKey, clientId, url }: Service,
  inputs: ReadonlyArray<Input<"createBeneficiary">>,
): Promise<ReadonlyArray<ExistingBeneficiary>> => {
  const client = createClient({ baseUrl: url, clientId, apiKey });
  const create = (input: Input<"createBeneficiary">) =>
    Effect.tryPromise(() => client.createBeneficiary(input)).pipe(
      // Longer than an outage.
      Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 120 }),
      Effect.map(({ beneficiary_id: id }) => ({ account, id, currency: input.account_currency })),
    );
  const created = Effect.forEach(inputs, create, { concurrency: "unbounded" });
  return Effect.runPromise(created).finally(() => client.close());
};
