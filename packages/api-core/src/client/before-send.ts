import { Context, Effect } from "effect";
import type { PaymentsError } from "./errors.ts";
import type { OperationName } from "./operations.ts";

/**
 * Run before every dispatch of an operation that is not `safe`, each repeat included: after the
 * input check, the waits, the sign-in and the wait for a connection, which is open by then. Nothing
 * is waited for between its success and the first byte; where the process stood still for more than
 * a second in between, nothing is sent. By default it does nothing.
 *
 * Its failure ends the call without this send and without another. Where an earlier send of the
 * same call is in doubt, the call fails with `OutcomeUnknown`, as always; otherwise with that
 * failure. Provide one to the effect of a call, to ask at the last moment whether it may be sent.
 */
export const BeforeSend = Context.Reference<
  (operation: OperationName) => Effect.Effect<void, PaymentsError>
>("@durable-payments/api-core/BeforeSend", { defaultValue: () => () => Effect.void });
