import { expect, it } from "vitest";
import { isNamespaceMissing, isNotFound, temporalReason } from "../src/index.ts";

const grpc = (message: string, details?: string) =>
  Object.assign(new Error(message), { code: 9, details, metadata: {} });

it.each([
  [grpc("9 FAILED_PRECONDITION: no poller seen", "no poller seen"), "no poller seen"],
  [grpc("9 FAILED_PRECONDITION: no poller seen"), "no poller seen"],
  [
    new Error("Failed to query Workflow", {
      cause: grpc("14 UNAVAILABLE: No connection", "No connection"),
    }),
    "No connection",
  ],
  [new Error("it is closed"), "it is closed"],
  [new Error("wrapped", { cause: new Error("the cause") }), "the cause"],
  ["a text", "a text"],
])("says of %s what a person reads", (error, reason) => {
  expect(temporalReason(error)).toBe(reason);
});

/** Temporal's answer of NOT_FOUND, with the kind of what it did not find. */
const missing = (kind: string) =>
  Object.assign(new Error("5 NOT_FOUND"), {
    code: 5,
    details: "not found",
    metadata: {
      get: () => [
        Buffer.from(`\u0012\u0030type.googleapis.com/temporal.api.errordetails.v1.${kind}`),
      ],
    },
  });

it("no run is given up because its namespace is missing", () => {
  expect(isNotFound(missing("NotFoundFailure"))).toBe(true);
  expect(isNamespaceMissing(missing("NotFoundFailure"))).toBe(false);
  expect(isNotFound(missing("NamespaceNotFoundFailure"))).toBe(false);
  expect(isNamespaceMissing(missing("NamespaceNotFoundFailure"))).toBe(true);
});
