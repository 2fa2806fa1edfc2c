import { fromWire, Refusal, wireMethod } from "@durable-payments/api-core/contract";
import { Context, Effect, Layer, Option, Schema } from "effect";
import { HttpServerRequest, HttpServerResponse } from "effect/http";
import { HttpApiError } from "effect/http-api";
import { answerWithFault, hangUp } from "../faults/broken-answers.ts";
import { Faults } from "../faults/faults.ts";
import { LedgerStore } from "../ledger/ledger-store.ts";
import { Settings, type SettingsShape } from "../settings.ts";
import { onTheWire } from "../temperament/on-the-wire.ts";
import { outageNow } from "../temperament/outage.ts";
import { TemperamentInForce } from "../temperament/temperaments-in-force.ts";
import { asRefusal, refusalAnswer } from "./answers.ts";
import { AsTheService } from "./simulated-api.ts";

/** How many requests came, by operation. */
export class RequestCounts extends Context.Service<RequestCounts, Map<string, number>>()(
  "@durable-payments/simulator/RequestCounts",
) {
  static readonly layer = Layer.sync(RequestCounts, () => new Map<string, number>());
}

const Fields = Schema.Record(Schema.String, Schema.Unknown);

const outOfService = Effect.succeed(
  HttpServerResponse.text("Service Unavailable", { status: 503 }),
);

/** The request under the contract's names, where the wire's are assumed to differ. */
const inOurNames = (operation: string, { assumptions }: SettingsShape) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest;
    const query = yield* HttpServerRequest.ParsedSearchParams;
    const ofQuery = Context.make(
      HttpServerRequest.ParsedSearchParams,
      // Only names and number texts change.
      fromWire(operation, query, assumptions) as typeof query,
    );
    if (operation !== "createCardholder") return ofQuery;
    const body = yield* Effect.option(HttpServerRequest.schemaBodyJson(Fields));
    if (Option.isNone(body)) return ofQuery;
    const renamed = new Request(new URL(request.url, "http://simulator"), {
      method: request.method,
      headers: request.headers,
      body: JSON.stringify(fromWire(operation, body.value, assumptions)),
    });
    return Context.add(
      ofQuery,
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(renamed),
    );
  });

/**
 * Counts a request, lets a fault strike it, writes every refusal as the service does, and the answer
 * as the temperament in force has it.
 */
export const AsTheServiceLayer = Layer.effect(
  AsTheService,
  Effect.gen(function* () {
    const settings = yield* Settings;
    const faults = yield* Faults;
    const counts = yield* RequestCounts;
    const store = yield* LedgerStore;
    const temperament = yield* TemperamentInForce;

    return (httpEffect, { endpoint }) =>
      Effect.gen(function* () {
        const operation = endpoint.identifier;
        const request = yield* HttpServerRequest.HttpServerRequest;
        const method = wireMethod(operation, endpoint.method, settings.assumptions);
        if (request.method !== method) {
          return refusalAnswer(`${operation} takes ${method}`, { status: 405 });
        }
        counts.set(operation, (counts.get(operation) ?? 0) + 1);
        const outage = yield* outageNow(temperament);
        if (outage !== undefined) return yield* outage === "503" ? outOfService : hangUp(request);
        const handled = Effect.flatMap(inOurNames(operation, settings), (context) =>
          Effect.provideContext(httpEffect, context),
        ).pipe(
          Effect.catch((error: unknown) => {
            const refusal =
              HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body"
                ? asRefusal(error)
                : error;
            return refusal instanceof Refusal
              ? Effect.succeed(refusalAnswer(refusal.message, { status: refusal.code }))
              : Effect.die(error);
          }),
          Effect.flatMap((answer) => onTheWire(operation, request, answer, temperament)),
        );
        const fault =
          (yield* faults.strike(operation)) ??
          (temperament.happens(temperament.current().stalls)
            ? ({ kind: "stalled" } as const)
            : undefined);
        return yield* fault === undefined
          ? handled
          : Effect.provideService(answerWithFault(fault, request, handled), LedgerStore, store);
      });
  }),
);
