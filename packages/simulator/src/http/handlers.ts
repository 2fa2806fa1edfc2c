import type { Input, OperationName, Output } from "@durable-payments/client/effect";
import { SUCCESS_CODE } from "@durable-payments/client/contract";
import { Effect, Layer } from "effect";
import { HttpServerResponse } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import * as cards from "../model/cards.ts";
import { Repeated } from "../model/cards.ts";
import * as lists from "../model/lists.ts";
import * as money from "../model/money.ts";
import * as payees from "../model/payees.ts";
import * as payouts from "../model/payouts.ts";
import type { Unit } from "../model/unit.ts";
import { refusalAnswer } from "./faults.ts";
import { asTheServiceLayer, SimulatedApi } from "./requests.ts";
import { signedInLayer, signIn } from "./sign-in.ts";
import type { Simulation } from "./simulation.ts";

/**
 * The operations but signIn, each one unit of work, by the fields of path, query and body: the model has a function of
 * each name.
 */
const WORK: {
  readonly [Name in OperationName]: (
    unit: Unit,
    input: Input<Name>,
  ) => Output<Name> | Repeated<Output<Name>>;
} = { ping: () => ({ message: "pong" }), ...payees, ...payouts, ...money, ...lists, ...cards };

const emptyAnswer = HttpServerResponse.jsonUnsafe({ code: SUCCESS_CODE, message: "Success" });

/** Responds to a repeated key by the newest fault about repeats, or with the first data. */
const answerRepeat = ({ faults }: Simulation, operation: string, data: unknown): unknown => {
  switch (faults.strike(operation, true)?.kind) {
    case "repeated-key-empty":
      return emptyAnswer;
    case "repeated-key-refusal":
      return refusalAnswer("unique_request_id was used before", { status: 400 });
    default:
      return data;
  }
};

/** The parts of a request, decoded. */
interface Parts {
  readonly headers: Parameters<typeof signIn>[2];
  readonly params?: object;
  readonly payload?: object;
  readonly query?: object;
}

/** The operations of the contract, each one unit of work of the service. */
export const serviceRoutes = (simulation: Simulation) => {
  const { act, settings } = simulation;
  const handlerOf = (name: string) => {
    if (name === "signIn") {
      return ({ headers }: Parts) => act((unit) => signIn(unit, settings, headers));
    }
    // The contract has no other operations, and has decoded the input of this one.
    const work = WORK[name as OperationName] as (unit: Unit, input: object) => unknown;
    return ({ params, payload, query }: Parts) =>
      Effect.map(
        act((unit) => work(unit, { ...query, ...payload, ...params })),
        (data) => (data instanceof Repeated ? answerRepeat(simulation, name, data.data) : data),
      );
  };
  const groups = Object.values(SimulatedApi.groups).map(({ endpoints, identifier }) =>
    HttpApiBuilder.group(SimulatedApi, identifier, (handlers) => {
      const all = Object.keys(endpoints).map((name) => [name, handlerOf(name)] as const);
      // The type of WORK says of each operation what the contract's does.
      return handlers.handleAll(Object.fromEntries(all) as never);
    }),
  );
  return HttpApiBuilder.layer(SimulatedApi).pipe(
    Layer.provide(groups.reduce((some, group) => Layer.merge(some, group))),
    Layer.provide(signedInLayer(simulation)),
    Layer.provide(asTheServiceLayer(simulation)),
  );
};
