import { PaymentsApi } from "@durable-payments/api-core/contract";
// Not from their barrel: that loads five times as much, and this is half of the time that a test's imports take.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem";
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import * as NodePath from "@effect/platform-node/NodePath";
import { Console, Effect, Layer } from "effect";
import { Etag, HttpRouter, HttpServerRequest } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { createServer, ServerResponse } from "node:http";
import { ControlRoutes } from "./control/control-handlers.ts";
import { Control } from "./control/control.ts";
import { Faults } from "./faults/faults.ts";
import { memoryJournal, openJournal, UnusableStateFile } from "./ledger/journal.ts";
import { LedgerStore, makeLedgerStore } from "./ledger/ledger-store.ts";
import { refusalAnswer } from "./service/answers.ts";
import { isOpenToOthers, refuseForeignHosts } from "./service/foreign-hosts.ts";
import { BalanceHandlers, createBalance, fund } from "./service/balances.ts";
import { BeneficiaryHandlers, updateBeneficiary } from "./service/beneficiaries.ts";
import { CardholderHandlers, endVerification } from "./service/cardholders.ts";
import { CardHandlers } from "./service/cards.ts";
import { addPayer, PayerHandlers } from "./service/payers.ts";
import { PayoutHandlers, settlePayout } from "./service/payouts.ts";
import { AsTheServiceLayer, RequestCounts } from "./service/requests.ts";
import { AuthHandlers, SignedInLayer } from "./service/sign-in.ts";
import { SimulatedApi } from "./service/simulated-api.ts";
import { TransactionHandlers } from "./service/transactions.ts";
import { refusedConnectionsLayer } from "./temperament/refused-connections.ts";
import { TemperamentInForce } from "./temperament/temperaments-in-force.ts";
import { isNothing, makeSettings, Settings, type SimulatorOptions } from "./settings.ts";

const LOCAL_HOST = "127.0.0.1";

/** How long requests under way may take once the simulator is to stop. */
const SHUTDOWN_MILLISECONDS = 100;

const SettingsLayer = (options: SimulatorOptions) =>
  Layer.effect(Settings, Effect.fromResult(makeSettings(options)));

const LedgerLayer = (stateFile: string | undefined) =>
  Layer.effect(
    LedgerStore,
    Effect.gen(function* () {
      const settings = yield* Settings;
      const temperament = yield* TemperamentInForce;
      const { changes, journal } = yield* Effect.acquireRelease(
        Effect.try({
          try: () =>
            stateFile === undefined
              ? { journal: memoryJournal, changes: undefined }
              : openJournal(stateFile),
          catch: (cause) =>
            cause instanceof UnusableStateFile
              ? cause
              : new UnusableStateFile({ message: String(cause) }),
        }),
        ({ journal }) => Effect.sync(journal.close),
      );
      return yield* makeLedgerStore({
        journal,
        changes,
        takeStep: (unit, { id, kind }) =>
          kind === "payouts"
            ? settlePayout(unit, id, settings, temperament)
            : endVerification(unit, id),
        open: (unit) => {
          addPayer(unit, {
            entity_type: "company",
            company_name: "Simulated Account Ltd",
            country: "US",
          });
          for (const [currency, amount] of Object.entries(settings.balances)) {
            createBalance(unit, currency, currency);
            if (!isNothing(amount)) fund(unit, currency, amount);
          }
        },
      });
    }),
  );

/** The update under the method that it is assumed to have, where that is not the contract's. */
const UpdateByItsMethod = Layer.unwrap(
  Effect.gen(function* () {
    const { assumptions } = yield* Settings;
    const { method, path } = PaymentsApi.groups.beneficiaries.endpoints.updateBeneficiary;
    return assumptions.updateBeneficiaryMethod === method
      ? Layer.empty
      : HttpRouter.use((router) =>
          Effect.flatMap(
            HttpApiBuilder.endpoint(
              SimulatedApi,
              "beneficiaries",
              "updateBeneficiary",
              updateBeneficiary,
            ),
            (handled) => router.add(assumptions.updateBeneficiaryMethod, path, handled),
          ),
        );
  }),
);

const ServiceRoutes = Layer.mergeAll(
  HttpApiBuilder.layer(SimulatedApi).pipe(
    Layer.provide([
      AuthHandlers,
      BeneficiaryHandlers,
      PayoutHandlers,
      PayerHandlers,
      BalanceHandlers,
      TransactionHandlers,
      CardholderHandlers,
      CardHandlers,
    ]),
  ),
  UpdateByItsMethod,
).pipe(Layer.provide(SignedInLayer), Layer.provide(AsTheServiceLayer));

const AnythingElse = HttpRouter.add("*", "/*", (request) =>
  Effect.succeed(
    refusalAnswer(
      `The service has no ${request.method} ${new URL(request.url, "http://_").pathname}`,
      {
        status: 404,
      },
    ),
  ),
);

/** Shows method, path and status of a request once it was answered; never a query, header or body. */
const logged = <A, E, R>(handled: Effect.Effect<A, E, R>) =>
  Effect.onExit(handled, () =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest;
      const response = NodeHttpServerRequest.toServerResponse(request);
      const status =
        response instanceof ServerResponse && response.headersSent
          ? String(response.statusCode)
          : "no answer";
      yield* Console.error(
        `${request.method} ${new URL(request.url, "http://_").pathname} ${status}`,
      );
    }),
  );

/** The whole simulator: listens, and offers its control in the same process. */
export const simulatorLayer = (options: SimulatorOptions) => {
  const server = createServer();
  return HttpRouter.serve(Layer.mergeAll(ServiceRoutes, ControlRoutes, AnythingElse), {
    disableLogger: true,
    disableListenLog: true,
    middleware: (handled) => {
      const known = isOpenToOthers(options.host ?? LOCAL_HOST)
        ? handled
        : refuseForeignHosts(handled);
      return options.log === true ? logged(known) : known;
    },
  }).pipe(
    Layer.merge(refusedConnectionsLayer(server)),
    Layer.provideMerge(
      NodeHttpServer.layerServer(() => server, {
        host: options.host ?? LOCAL_HOST,
        port: options.port ?? 0,
        gracefulShutdownTimeout: SHUTDOWN_MILLISECONDS,
      }),
    ),
    // Not all of Node's services: each set of them listens to the terminal.
    Layer.provide([NodeHttpPlatform.layer, Etag.layerWeak, NodeFileSystem.layer, NodePath.layer]),
    Layer.provideMerge(Control.layer),
    Layer.provide(LedgerLayer(options.stateFile)),
    Layer.provideMerge(
      TemperamentInForce.layer({
        temperament: {
          ...(options.echoPayoutKey === false ? { payoutKeys: "dropped" as const } : {}),
          ...options.temperament,
        },
        seed: options.seed ?? 1,
      }),
    ),
    Layer.provide([
      Faults.layer({ faults: options.faults ?? [], seed: options.seed ?? 1 }),
      RequestCounts.layer,
      SettingsLayer(options),
    ]),
  );
};
