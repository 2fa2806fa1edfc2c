import { faultsText } from "@durable-payments/client/effect";
import { faultsOf } from "@durable-payments/client/settings";
import { Refusal, REFUSAL_CODE } from "@durable-payments/client/contract";
import { Effect, Option, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { setVerification, VERIFICATIONS } from "../model/cards.ts";
import { fund } from "../model/money.ts";
import { setPayoutStatus } from "../model/payouts.ts";
import type { Unit } from "../model/unit.ts";
import { FaultOrder, refusalAnswer } from "./faults.ts";
import type { Simulation } from "./simulation.ts";
import { Temperament } from "./temperament.ts";

type Method = "DELETE" | "GET" | "POST" | "PUT";

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/** A request's body; an invalid body is refused with `<field>: <problem>; …`. */
const body = <A>(schema: Schema.Codec<A, unknown>) =>
  HttpServerRequest.schemaBodyJson(schema, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.mapError((error) => {
      const message = Schema.isSchemaError(error)
        ? faultsText(faultsOf(error.issue))
        : "The body must be JSON";
      return new Refusal({ code: REFUSAL_CODE, message });
    }),
  );

const onlyFromHere = refusalAnswer("The simulator can be controlled only from its own machine", {
  status: REFUSAL_CODE,
});

/** A route that answers this machine only: with the JSON of the result, or 204 without one. */
const route = <R>(method: Method, path: `/${string}`, handle: Effect.Effect<unknown, Refusal, R>) =>
  HttpRouter.route(method, `/_simulator${path}`, ({ remoteAddress }) =>
    Option.exists(remoteAddress, (address) => LOOPBACK.test(address))
      ? Effect.match(handle, {
          onFailure: ({ code, message }) => refusalAnswer(message, { status: code }),
          onSuccess: (result) =>
            result === undefined
              ? HttpServerResponse.empty()
              : HttpServerResponse.jsonUnsafe(result),
        })
      : Effect.succeed(onlyFromHere),
  );

const Amount = Schema.Struct({ amount: Schema.String });
const Outcome = Schema.Struct({ status: Schema.Literals(VERIFICATIONS) });
const Status = Schema.Struct({ status: Schema.NonEmptyString });

/** The control endpoint, for tests and people: it reads and changes the service from outside. */
export const controlRoutes = (simulation: Simulation) => {
  const { act, faults } = simulation;
  /** A unit of work about the id of the path. */
  const about = <A>(
    schema: Schema.Codec<A, unknown>,
    work: (unit: Unit, id: string, given: A) => void,
  ) =>
    Effect.gen(function* () {
      const { id = "" } = yield* HttpRouter.params;
      const given = yield* body(schema);
      return yield* act((unit) => work(unit, id, given));
    });
  const read = (path: `/${string}`, of: () => unknown) => route("GET", path, Effect.sync(of));
  const addFault = Effect.map(body(FaultOrder), (order) => faults.add(order));
  const clearFaults = Effect.sync(() => faults.clear());
  const state = Effect.promise(() => simulation.state());
  const setTemperament = Effect.map(body(Temperament), (one) => simulation.setTemperament(one));
  const funding = about(Amount, (unit, id, { amount }) => fund(unit, id, amount));
  const verifying = about(Outcome, (unit, id, { status }) => setVerification(unit, id, status));
  const settling = about(Status, (unit, id, { status }) => setPayoutStatus(unit, id, status));
  return HttpRouter.addAll([
    route("GET", "/state", state),
    read("/faults", () => faults.list()),
    route("POST", "/faults", addFault),
    route("DELETE", "/faults", clearFaults),
    read("/temperament", () => simulation.temperament),
    route("PUT", "/temperament", setTemperament),
    route("POST", "/balances/:id/fund", funding),
    route("POST", "/cardholders/:id/verification", verifying),
    route("POST", "/payouts/:id/status", settling),
  ]);
};
