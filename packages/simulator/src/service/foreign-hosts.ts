import { Effect } from "effect";
import { HttpServerRequest } from "effect/http";
import { refusalAnswer } from "./answers.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Whether a server that listens there can be reached from other machines, by any name. */
export const isOpenToOthers = (host: string): boolean => !LOOPBACK.test(host) && host !== "::1";

/**
 * Refuses requests that were sent to another host: a page in a browser may have a name of its own lead to this machine
 * (DNS rebinding), and would read the ledger and order faults.
 */
export const refuseForeignHosts = <A, E, R>(handled: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest;
    if (LOOPBACK.test(headers["host"] ?? "")) return yield* handled;
    return refusalAnswer("The simulator answers requests to this machine alone, by its address.", {
      status: 403,
    });
  });
