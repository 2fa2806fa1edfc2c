import { expect, it } from "vitest";
import { temporalReason } from "../src/index.ts";

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
