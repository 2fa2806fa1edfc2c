import type { Calls } from "./calls.ts";
import {
  operationNames,
  type Operations,
  type OperationsWithResponse,
  type PaymentsClientShape,
} from "./client-shape.ts";
import { makeListStreams } from "./list-streams.ts";

/** Makes the client for Effect. */
export const makeClient = (calls: Calls["Service"]): PaymentsClientShape => {
  const operationsWith = (hasResponse: boolean) =>
    Object.fromEntries(
      operationNames.map((name) => [
        name,
        (input?: unknown, options?: unknown) =>
          calls.call(name, input, options, { caller: "effect", hasResponse }),
      ]),
    );
  return {
    // Each name is called with its own input and answers its own output; both come from the contract.
    ...(operationsWith(false) as unknown as Operations),
    withResponse: operationsWith(true) as unknown as OperationsWithResponse,
    streams: makeListStreams(calls),
    rate: calls.rate,
    options: calls.options,
  };
};
