import { defaultAssumptions, faultsText } from "@durable-payments/client/effect";
import { faultsOf } from "@durable-payments/client/settings";
import { fromWire, PaymentsApi, Refusal, REFUSAL_CODE } from "@durable-payments/client/contract";
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Console, Effect, Layer } from "effect";
import { HttpServerRequest, HttpServerResponse } from "effect/http";
import { HttpApi, HttpApiError, HttpApiMiddleware } from "effect/http-api";
import { ServerResponse } from "node:http";
import { answerWithFault, hangUp, refusalAnswer, tooMany } from "./faults.ts";
import { expireTokens } from "./sign-in.ts";
import type { Simulation } from "./simulation.ts";
import { writeAnswer, writeJson } from "./temperament.ts";

/** Surrounds every operation: counts it, applies faults, writes responses as the service does. */
export class AsTheService extends HttpApiMiddleware.Service<AsTheService>()(
  "@durable-payments/simulator/AsTheService",
  { error: Refusal },
) {}

/** The contract, as this server serves it. */
export const SimulatedApi = PaymentsApi.middleware(AsTheService).annotate(HttpApi.ParseOptions, {
  errors: "all",
});

/** The refusal of a request that does not decode, `<field>: <problem>; …`, or the service's own. */
const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Refusal) return error;
  if (!HttpApiError.HttpApiSchemaError.is(error)) return undefined;
  return new Refusal({ code: REFUSAL_CODE, message: faultsText(faultsOf(error.cause.issue)) });
};

/** The path of a request, without its query. */
export const pathOf = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  new URL(url, "http://_").pathname;

const outOfService = HttpServerResponse.text("Service Unavailable", { status: 503 });

/** The query under the contract's names. */
const withOurNames = <A, E, R>(operation: string, handled: Effect.Effect<A, E, R>) =>
  Effect.updateService(
    handled,
    HttpServerRequest.ParsedSearchParams,
    // Only names and number texts change.
    (query) => fromWire(operation, query, defaultAssumptions) as typeof query,
  );

/** A response after the temperament, and the option `rewrite`, have changed it. */
const written = (
  { settings, temperament }: Simulation,
  operation: string,
  { headers }: HttpServerRequest.HttpServerRequest,
  answer: HttpServerResponse.HttpServerResponse,
): HttpServerResponse.HttpServerResponse => {
  const { amounts, clockOffsetMs, coding } = temperament;
  const { rewrite } = settings;
  const isChanged = [amounts, coding, rewrite].some((one) => one !== undefined);
  let changed = answer;
  if (isChanged && answer.body._tag === "Uint8Array") {
    const json = writeJson(JSON.parse(Buffer.from(answer.body.body).toString()), temperament);
    const accepted = headers["accept-encoding"];
    const body = rewrite === undefined ? json : rewrite(operation, json);
    changed = writeAnswer(body, answer, { coding, accepted });
  }
  if (clockOffsetMs === undefined) return changed;
  const date = new Date(Date.now() + clockOffsetMs).toUTCString();
  return HttpServerResponse.setHeader(changed, "date", date);
};

/** Counts a request, applies an outage or a fault, and writes refusals as the service does. */
export const asTheServiceLayer = (simulation: Simulation) =>
  Layer.succeed(AsTheService, (httpEffect, { endpoint }) =>
    Effect.gen(function* () {
      const operation = endpoint.identifier;
      const request = yield* HttpServerRequest.HttpServerRequest;
      simulation.requests.set(operation, (simulation.requests.get(operation) ?? 0) + 1);
      const { outage } = simulation;
      if (outage !== undefined) return outage === "503" ? outOfService : yield* hangUp(request);
      const free = simulation.overLimit();
      if (free !== undefined) return tooMany(free.toUTCString());
      const handled = withOurNames(operation, httpEffect).pipe(
        Effect.catch((error: unknown) => {
          const refusal = refusalOf(error);
          return refusal === undefined
            ? Effect.die(error)
            : Effect.succeed(refusalAnswer(refusal.message, { status: refusal.code }));
        }),
        Effect.map((answer) => written(simulation, operation, request, answer)),
      );
      const fault = simulation.faults.strike(operation);
      if (fault === undefined) return yield* handled;
      const expiring = Effect.orDie(simulation.act(expireTokens));
      return yield* answerWithFault(fault, request, handled, expiring);
    }),
  );

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Refuses requests that were sent to another host, unless the simulator listens for other machines: a page in
 * a browser may point its own name at this machine (DNS rebinding), and would read the records.
 */
export const refuseForeignHosts =
  (host: string) =>
  <A, E, R>(handled: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest;
      const isOpen = !LOOPBACK.test(host) && host !== "::1";
      if (isOpen || LOOPBACK.test(headers["host"] ?? "")) return yield* handled;
      return refusalAnswer("The simulator accepts only requests that address this machine.", {
        status: 403,
      });
    });

/** Shows method, path and status of a request after its response; never a query, header or body. */
export const logged = <A, E, R>(handled: Effect.Effect<A, E, R>) =>
  Effect.onExit(handled, () =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest;
      const response = NodeHttpServerRequest.toServerResponse(request);
      const isAnswered = response instanceof ServerResponse && response.headersSent;
      const status = isAnswered ? String(response.statusCode) : "no answer";
      yield* Console.error(`${request.method} ${pathOf(request)} ${status}`);
    }),
  );
