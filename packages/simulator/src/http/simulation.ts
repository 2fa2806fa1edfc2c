import { Refusal } from "@durable-payments/client/contract";
import { Effect } from "effect";
import { ACCOUNT_NAME, createBalance, fund } from "../model/money.ts";
import { addPayer } from "../model/payees.ts";
import type { ServiceBooks } from "../model/records.ts";
import { ServiceModel } from "../model/service.ts";
import type { Unit } from "../model/unit.ts";
import type { Settings } from "../settings.ts";
import type { StateFile } from "../state-file.ts";
import { Faults } from "./faults.ts";
import type { Temperament } from "./temperament.ts";

const SECOND = 1_000;

/** The state of one simulator: the service, the clock, the faults and the temperament. */
export class Simulation {
  readonly settings: Settings;
  readonly faults = new Faults();
  /** Number of requests by operation. */
  readonly requests = new Map<string, number>();
  readonly #model: ServiceModel;
  /** The requests that were let through in the latest second, and how many were not, ever. */
  #second = { from: 0, count: 0 };
  #rateLimited = 0;
  #temperament: Temperament;
  /** When the temperament was set, by the computer's clock. */
  #since = Date.now();
  #latest = 0;

  constructor(settings: Settings, file: StateFile | undefined) {
    this.settings = settings;
    this.#temperament = settings.temperament;
    settings.faults.forEach((order) => this.faults.add(order));
    const { backlog, settleAfter, verifyAfter } = settings;
    this.#model = new ServiceModel(
      () => ({ ...this.#temperament, backlog, settleAfter, verifyAfter }),
      file?.changes,
      file?.append,
    );
  }

  get temperament(): Temperament {
    return this.#temperament;
  }

  /** Replaces the temperament; an outage in it counts from now. */
  setTemperament(temperament: Temperament): void {
    this.#temperament = temperament;
    this.#since = Date.now();
  }

  /** The outage of this moment, if any. */
  get outage(): "reset" | "503" | undefined {
    const { outage } = this.#temperament;
    if (outage === undefined) return undefined;
    const at = Date.now() - this.#since - outage.afterMs;
    return at >= 0 && at < outage.forMs ? outage.kind : undefined;
  }

  /** Counts a request against the limit of the present second. @returns the end of that second if it is one too many. */
  overLimit(): Date | undefined {
    const { requestsPerSecond = Infinity } = this.#temperament;
    const from = Math.floor(Date.now() / SECOND) * SECOND;
    if (from !== this.#second.from) this.#second = { from, count: 0 };
    this.#second.count += 1;
    if (this.#second.count <= requestsPerSecond) return undefined;
    this.#rateLimited += 1;
    return new Date(from + SECOND);
  }

  /** The service's time. It never goes back, even if readings of the clock arrive in another order. */
  async #now(): Promise<number> {
    this.#latest = Math.max(this.#latest, await this.settings.clock());
    return this.#latest + (this.#temperament.clockOffsetMs ?? 0);
  }

  /** Does one unit of work at the service's time. @throws Refusal of the work. */
  async transact<A>(work: (unit: Unit) => A): Promise<A> {
    const now = await this.#now();
    // Synchronous from here on, so that no other request comes between.
    return this.#model.transact(now, work);
  }

  /** The same as an effect, which fails with the refusal. */
  readonly act = <A>(work: (unit: Unit) => A): Effect.Effect<A, Refusal> =>
    Effect.promise(() =>
      this.transact(work).then(Effect.succeed, (cause: unknown) =>
        cause instanceof Refusal ? Effect.fail(cause) : Effect.die(cause),
      ),
    ).pipe(Effect.flatten);

  /** Opens the account, unless a state file has it. */
  open(): Promise<void> {
    return this.transact((unit) => {
      if (unit.all("payers").length > 0) return;
      addPayer(unit, { entity_type: "company", company_name: ACCOUNT_NAME, country: "US" });
      for (const [currency, amount] of Object.entries(this.settings.balances)) {
        createBalance(unit, { currency, name: currency });
        if (Number(amount) !== 0) fund(unit, currency, amount);
      }
    });
  }

  /** Returns all records of the service. */
  state(): Promise<ServiceBooks> {
    return this.transact(({ all }) => ({
      balances: all("balances"),
      beneficiaries: all("beneficiaries"),
      payouts: all("payouts"),
      payers: all("payers"),
      transactions: all("transactions"),
      cardholders: all("cardholders"),
      cards: all("cards"),
      sign_ins: all("signIns").map(({ at }) => at),
      requests: Object.fromEntries(this.requests),
      rate_limited: this.#rateLimited,
    }));
  }
}
