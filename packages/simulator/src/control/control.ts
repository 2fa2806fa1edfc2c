import type { Refusal } from "@durable-payments/api-core/contract";
import { Context, Effect, Layer } from "effect";
import type { FaultOrder, OrderedFault } from "../faults/fault.ts";
import { Faults } from "../faults/faults.ts";
import { LedgerStore } from "../ledger/ledger-store.ts";
import type { Ledger } from "../ledger/records.ts";
import { fund } from "../service/balances.ts";
import { setVerification, type Verification } from "../service/cardholders.ts";
import { setPayoutStatus } from "../service/payouts.ts";
import { RequestCounts } from "../service/requests.ts";
import { Settings } from "../settings.ts";
import type { Temperament } from "../temperament/temperament.ts";
import { TemperamentInForce } from "../temperament/temperaments-in-force.ts";

/** What a test or a person can see and do behind the service's back. */
export class Control extends Context.Service<
  Control,
  {
    readonly ledger: Effect.Effect<Ledger, Refusal>;
    readonly addFault: (fault: FaultOrder) => Effect.Effect<void>;
    readonly clearFaults: Effect.Effect<void>;
    readonly faults: Effect.Effect<ReadonlyArray<OrderedFault>>;
    readonly temperament: Effect.Effect<Temperament>;
    readonly setTemperament: (temperament: Temperament) => Effect.Effect<void>;
    readonly fund: (currency: string, amount: string) => Effect.Effect<void, Refusal>;
    readonly setVerification: (id: string, status: Verification) => Effect.Effect<void, Refusal>;
    readonly setPayoutStatus: (id: string, status: string) => Effect.Effect<void, Refusal>;
  }
>()("@durable-payments/simulator/Control") {
  static readonly layer = Layer.effect(
    Control,
    Effect.gen(function* () {
      const store = yield* LedgerStore;
      const faults = yield* Faults;
      const counts = yield* RequestCounts;
      const settings = yield* Settings;
      const temperament = yield* TemperamentInForce;
      return {
        ledger: store.transact((unit) => ({
          balances: unit.all("balances"),
          beneficiaries: unit.all("beneficiaries"),
          payouts: unit.all("payouts"),
          payers: unit.all("payers"),
          transactions: unit.all("transactions"),
          cardholders: unit.all("cardholders"),
          cards: unit.all("cards"),
          sign_ins: unit.all("signIns").map(({ at }) => at),
          requests: Object.fromEntries(counts),
        })),
        addFault: faults.add,
        clearFaults: faults.clear,
        faults: faults.list,
        temperament: Effect.sync(temperament.current),
        setTemperament: temperament.set,
        fund: (currency, amount) => store.transact((unit) => fund(unit, currency, amount)),
        setVerification: (id, status) =>
          store.transact((unit) => setVerification(unit, id, status)),
        setPayoutStatus: (id, status) =>
          store.transact((unit) => setPayoutStatus(unit, id, status, settings)),
      };
    }),
  );
}
