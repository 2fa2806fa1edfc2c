import { Refusal, REFUSAL_CODE } from "@durable-payments/api-core/contract";
import { Effect, Layer, Option } from "effect";
import { HttpServerRequest } from "effect/http";
import { HttpApiBuilder, HttpApiError } from "effect/http-api";
import { asRefusal } from "../service/answers.ts";
import { ControlApi, ThisMachineOnly } from "./control-api.ts";
import { Control } from "./control.ts";

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

const ThisMachineOnlyLayer = Layer.succeed(ThisMachineOnly, (handled) =>
  Effect.gen(function* () {
    const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest;
    if (!Option.exists(remoteAddress, (address) => LOOPBACK.test(address))) {
      return yield* new Refusal({
        code: REFUSAL_CODE,
        message: "The simulator is controlled from its own machine only",
      });
    }
    return yield* handled.pipe(
      Effect.catch((error: unknown) =>
        HttpApiError.HttpApiSchemaError.is(error)
          ? Effect.fail(asRefusal(error))
          : error instanceof Refusal
            ? Effect.fail(error)
            : Effect.die(error),
      ),
    );
  }),
);

/** The control endpoint. */
export const ControlRoutes = HttpApiBuilder.layer(ControlApi).pipe(
  Layer.provide(
    HttpApiBuilder.group(
      ControlApi,
      "control",
      Effect.fn(function* (handlers) {
        const control = yield* Control;
        return handlers.handleAll({
          readLedger: () => control.ledger,
          addFault: ({ payload }) => control.addFault(payload),
          listFaults: () => control.faults,
          clearFaults: () => control.clearFaults,
          readTemperament: () => control.temperament,
          setTemperament: ({ payload }) => control.setTemperament(payload),
          fund: ({ params, payload }) => control.fund(params.currency, payload.amount),
          setVerification: ({ params, payload }) =>
            control.setVerification(params.id, payload.status),
          setPayoutStatus: ({ params, payload }) =>
            control.setPayoutStatus(params.id, payload.status),
        });
      }),
    ),
  ),
  Layer.provide(ThisMachineOnlyLayer),
);
