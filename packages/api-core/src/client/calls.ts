import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { Caller } from "./call-options.ts";
import type { ClientOptions } from "./config.ts";
import type { PaymentsError } from "./errors.ts";
import type { OperationName } from "./operations.ts";

/** The caller, and whether the result includes the response. */
export interface CallKind {
  readonly caller: Caller;
  readonly hasResponse: boolean;
}

/** The calls of a client, by the name of the operation: what both clients, for Effect and for promises, are made of. */
export class Calls extends Context.Service<
  Calls,
  {
    readonly call: (
      name: OperationName,
      input: unknown,
      options: unknown,
      kind: CallKind,
    ) => Effect.Effect<unknown, PaymentsError>;
    /** Requests a second at most, now; undefined if no limit is known. */
    readonly rate: () => number | undefined;
    readonly options: ClientOptions;
  }
>()("@durable-payments/client/Calls") {}
