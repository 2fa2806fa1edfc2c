import { Refusal, REFUSAL_CODE } from "@durable-payments/api-core/contract";
import { Effect, Layer, Option, Schema } from "effect";
import { HttpServerRequest } from "effect/http";
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
} from "effect/http-api";
import { setVerification, VERIFICATIONS } from "../model/cards.ts";
import { fund } from "../model/money.ts";
import { setPayoutStatus } from "../model/payouts.ts";
import { Ledger } from "../model/records.ts";
import { FaultOrder, OrderedFault } from "./faults.ts";
import { refusalOf } from "./requests.ts";
import type { Simulation } from "./simulation.ts";
import { Temperament } from "./temperament.ts";

/** Answers only this machine. */
class ThisMachineOnly extends HttpApiMiddleware.Service<ThisMachineOnly>()(
  "@durable-payments/simulator/ThisMachineOnly",
  { error: Refusal },
) {}

const byId = { id: Schema.String };
const does = { success: HttpApiSchema.NoContent, error: Refusal };
const shows = <S extends Schema.Top>(success: S) => ({ success, error: Refusal });

/** The control API of the simulator itself; it is no part of the simulated service. */
const ControlApi = HttpApi.make("simulator")
  .annotate(HttpApi.ParseOptions, { errors: "all", onExcessProperty: "error" })
  .add(
    HttpApiGroup.make("control", { topLevel: true })
      .add(
        HttpApiEndpoint.get("state", "/_simulator/state", shows(Ledger)),
        HttpApiEndpoint.get("faults", "/_simulator/faults", shows(Schema.Array(OrderedFault))),
        HttpApiEndpoint.post("addFault", "/_simulator/faults", { payload: FaultOrder, ...does }),
        HttpApiEndpoint.delete("clearFaults", "/_simulator/faults", does),
        HttpApiEndpoint.get("temperament", "/_simulator/temperament", shows(Temperament)),
        HttpApiEndpoint.put("setTemperament", "/_simulator/temperament", {
          payload: Temperament,
          ...does,
        }),
        HttpApiEndpoint.post("fund", "/_simulator/balances/:id/fund", {
          params: byId,
          payload: Schema.Struct({ amount: Schema.String }),
          ...does,
        }),
        HttpApiEndpoint.post("setVerification", "/_simulator/cardholders/:id/verification", {
          params: byId,
          payload: Schema.Struct({ status: Schema.Literals(VERIFICATIONS) }),
          ...does,
        }),
        HttpApiEndpoint.post("setPayoutStatus", "/_simulator/payouts/:id/status", {
          params: byId,
          payload: Schema.Struct({ status: Schema.NonEmptyString }),
          ...does,
        }),
      )
      .middleware(ThisMachineOnly),
  );

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

const thisMachineOnlyLayer = Layer.succeed(ThisMachineOnly, (handled) =>
  Effect.gen(function* () {
    const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest;
    if (!Option.exists(remoteAddress, (address) => LOOPBACK.test(address))) {
      const message = "The simulator is controlled from its own machine only";
      return yield* new Refusal({ code: REFUSAL_CODE, message });
    }
    return yield* handled.pipe(
      Effect.catch((error: unknown) => {
        const refusal = refusalOf(error);
        return refusal === undefined ? Effect.die(error) : Effect.fail(refusal);
      }),
    );
  }),
);

/** The control endpoint: what a test or a person can see and do behind the service's back. */
export const controlRoutes = (simulation: Simulation) => {
  const { act, faults } = simulation;
  const handlers = HttpApiBuilder.group(ControlApi, "control", (group) =>
    group.handleAll({
      state: () => Effect.promise(() => simulation.state()),
      faults: () => Effect.sync(() => faults.list()),
      addFault: ({ payload }) => Effect.sync(() => faults.add(payload)),
      clearFaults: () => Effect.sync(() => faults.clear()),
      temperament: () => Effect.sync(() => simulation.temperament),
      setTemperament: ({ payload }) => Effect.sync(() => simulation.setTemperament(payload)),
      fund: ({ params, payload }) => act((unit) => fund(unit, params.id, payload.amount)),
      setVerification: ({ params, payload }) =>
        act((unit) => setVerification(unit, params.id, payload.status)),
      setPayoutStatus: ({ params, payload }) =>
        act((unit) => setPayoutStatus(unit, params.id, payload.status)),
    }),
  );
  return HttpApiBuilder.layer(ControlApi).pipe(
    Layer.provide(handlers),
    Layer.provide(thisMachineOnlyLayer),
  );
};
