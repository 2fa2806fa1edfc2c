// Not from their barrel, which loads five times as much: this is half of the time of a test's imports.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem";
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import * as NodePath from "@effect/platform-node/NodePath";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { Etag, HttpRouter, HttpServer } from "effect/http";
import { createServer } from "node:http";
import { controlRoutes } from "./http/control.ts";
import { type FaultOrder, refusalAnswer } from "./http/faults.ts";
import { serviceRoutes } from "./http/handlers.ts";
import { logged, pathOf, refuseForeignHosts } from "./http/requests.ts";
import { Simulation } from "./http/simulation.ts";
import type { Temperament } from "./http/temperament.ts";
import { setVerification, type Verification } from "./model/cards.ts";
import { fund } from "./model/money.ts";
import { setPayoutStatus } from "./model/payouts.ts";
import { suppose } from "./model/suppose.ts";
import { makeSettings, type SimulatorOptions } from "./settings.ts";
import { openStateFile } from "./state-file.ts";

/** A simulator that runs in this process, and its control. */
export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** Longest time for requests in flight when the simulator stops. */
const SHUTDOWN_MILLISECONDS = 100;

const anythingElse = HttpRouter.add("*", "/*", (request) => {
  const message = `The service has no ${request.method} ${pathOf(request)}`;
  return Effect.succeed(refusalAnswer(message, { status: 404 }));
});

/** The server: the service, and its control endpoint. */
const serverLayer = (simulation: Simulation) => {
  const { host, log, port } = simulation.settings;
  const refusing = refuseForeignHosts(host);
  return HttpRouter.serve(
    Layer.mergeAll(serviceRoutes(simulation), controlRoutes(simulation), anythingElse),
    {
      disableLogger: true,
      disableListenLog: true,
      middleware: (handled) => (log === true ? logged(refusing(handled)) : refusing(handled)),
    },
  ).pipe(
    Layer.provideMerge(
      NodeHttpServer.layerServer(() => createServer(), {
        host,
        port,
        gracefulShutdownTimeout: SHUTDOWN_MILLISECONDS,
      }),
    ),
    // Not all of Node's services: each set of them listens to the terminal.
    Layer.provide([NodeHttpPlatform.layer, Etag.layerWeak, NodeFileSystem.layer, NodePath.layer]),
  );
};

/**
 * Starts a simulator in this process, by default on a free port of 127.0.0.1.
 *
 * @param options durations are text such as `"3 days"`, and amounts decimal strings by currency.
 * @returns its `url`, `clientId` and `apiKey`, and functions that add faults, complete payouts and read its records.
 *   End it by `stop()`.
 * @throws InvalidSettings, UnusableStateFile, or ServeError if the port is in use.
 */
export const startSimulator = async (options: SimulatorOptions = {}) => {
  const settings = makeSettings(options);
  const { apiKey, clientId, stateFile } = settings;
  const file = stateFile === undefined ? undefined : openStateFile(stateFile);
  const simulation = new Simulation(settings, file);
  const { faults } = simulation;
  const scope = Scope.makeUnsafe();
  const stop = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void));
    file?.close();
  };
  try {
    await simulation.open();
    const server = Layer.buildWithScope(serverLayer(simulation), scope);
    const { address } = Context.get(await Effect.runPromise(server), HttpServer.HttpServer);
    return {
      /** The base URL, such as `http://127.0.0.1:41001`. */
      url: HttpServer.formatAddress(address),
      clientId,
      apiKey,
      /** Returns all records of the service; their times follow the service's clock. */
      state: () => simulation.state(),
      /** Adds a fault, which applies to later requests. */
      addFault: async (fault: FaultOrder) => faults.add(fault),
      clearFaults: async () => faults.clear(),
      /** Returns every fault since the last `clearFaults`, and how often it occurred. */
      faults: async () => faults.list(),
      /** Replaces the temperament; an outage in it counts from now. */
      setTemperament: async (temperament: Temperament) => simulation.setTemperament(temperament),
      /** Pays `amount`, a decimal string, into the balance of `currency`; rejects if that balance is missing. */
      fund: (currency: string, amount: string) =>
        simulation.transact((unit) => fund(unit, currency, amount)),
      /** Ends a cardholder's identity check, or opens it again. */
      setVerification: (id: string, status: Verification) =>
        simulation.transact((unit) => setVerification(unit, id, status)),
      /** Gives a payout a status; a failed one returns its money. */
      setPayoutStatus: (id: string, status: string) =>
        simulation.transact((unit) => setPayoutStatus(unit, id, status)),
      /** Supposes that the service has the objects whose ids some fields name, as they were last seen. */
      suppose: (fields: Readonly<Record<string, unknown>>) =>
        simulation.transact((unit) => suppose(unit, fields)),
      stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
};
