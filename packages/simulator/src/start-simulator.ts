import { Clock, Context, Effect, Exit, Layer, Scope } from "effect";
import { HttpServer } from "effect/http";
import { clockOf } from "./clock-of.ts";
import { Control } from "./control/control.ts";
import type { FaultOrder, OrderedFault } from "./faults/fault.ts";
import type { Ledger } from "./ledger/records.ts";
import type { Verification } from "./service/cardholders.ts";
import { API_KEY, CLIENT_ID, type SimulatorOptions } from "./settings.ts";
import type { Temperament } from "./temperament/temperament.ts";
import { simulatorLayer } from "./simulator.ts";

/** A simulator that runs in this process, and what can be done to it. */
export interface Simulator {
  /** The base URL, such as `http://127.0.0.1:41001`. */
  readonly url: string;
  readonly clientId: string;
  readonly apiKey: string;
  /** The whole ledger as it stands now. */
  readonly state: () => Promise<Ledger>;
  /** Orders a fault; it strikes requests that come from now on. */
  readonly addFault: (fault: FaultOrder) => Promise<void>;
  readonly clearFaults: () => Promise<void>;
  /** Every fault since the last `clearFaults`, with how often it struck. */
  readonly faults: () => Promise<ReadonlyArray<OrderedFault>>;
  /** Puts another temperament in place of the one in force; an outage in it counts from now. */
  readonly setTemperament: (temperament: Temperament) => Promise<void>;
  /** Pays `amount`, a decimal text, into the balance of `currency`; rejects where there is none. */
  readonly fund: (currency: string, amount: string) => Promise<void>;
  /** Ends a cardholder's identity check, or opens it again. */
  readonly setVerification: (id: string, status: Verification) => Promise<void>;
  /** Gives a payout a status; a failed one returns its money. */
  readonly setPayoutStatus: (id: string, status: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The address of a server as a URL. */
export const urlOf = ({ address }: HttpServer.HttpServer["Service"]): string =>
  HttpServer.formatAddress(address);

/**
 * Starts a simulator in this process, by default on a free port of 127.0.0.1. Rejects with
 * `InvalidSettings`, `UnusableStateFile` or `ServeError` (a port that is taken).
 */
export const startSimulator = async (options: SimulatorOptions = {}): Promise<Simulator> => {
  const scope = Scope.makeUnsafe();
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void));
  const clock = options.clock === undefined ? Clock.Clock.defaultValue() : clockOf(options.clock);
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.provideService(effect, Clock.Clock, clock));
  try {
    const context = await run(Layer.buildWithScope(simulatorLayer(options), scope));
    const control = Context.get(context, Control);
    const { apiKey = API_KEY, clientId = CLIENT_ID } = options;
    return {
      url: urlOf(Context.get(context, HttpServer.HttpServer)),
      clientId,
      apiKey,
      state: () => run(control.ledger),
      addFault: (fault) => run(control.addFault(fault)),
      clearFaults: () => run(control.clearFaults),
      faults: () => run(control.faults),
      setTemperament: (temperament) => run(control.setTemperament(temperament)),
      fund: (currency, amount) => run(control.fund(currency, amount)),
      setVerification: (id, status) => run(control.setVerification(id, status)),
      setPayoutStatus: (id, status) => run(control.setPayoutStatus(id, status)),
      stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
};
