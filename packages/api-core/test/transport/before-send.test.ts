import { Effect } from "effect";
import { expect, it, vi } from "vitest";
import {
  BeforeSend,
  type OperationName,
  operation,
  operationNames,
  PaymentsClient,
  Unavailable,
} from "../../src/index.ts";
import { answers } from "../support/answers.ts";
import { anyEffect, settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, startServer } from "../support/server.ts";

const paused = (name: OperationName) =>
  new Unavailable({ operation: name, carriedOut: "no", message: "Sending is paused." });

/** One call with a check before each send, which lets the first `most` through. */
const callChecked = async (name: OperationName, answer: Answer, most: number) => {
  await using server = await startServer(answer);
  const asked: Array<{ readonly name: OperationName; readonly signIns: number }> = [];
  const check = (called: OperationName) =>
    Effect.suspend(() => {
      asked.push({ name: called, signIns: server.signIns.length });
      return asked.length > most ? Effect.fail(paused(called)) : Effect.void;
    });
  const error = await PaymentsClient.use((client) =>
    Effect.match(anyEffect(client, name)(requests[name]), {
      onSuccess: () => undefined,
      onFailure: (failure) => failure,
    }),
  ).pipe(
    Effect.provideService(BeforeSend, check),
    Effect.provide(PaymentsClient.layer(settingsFor(server.url, { maxAttempts: 5 }))),
    Effect.runPromise,
  );
  return { asked, error, sent: server.requests.length };
};

it.each(operationNames)("is asked before %s is sent, unless it only reads", async (name) => {
  const { asked, sent } = await callChecked(name, () => answers[name], 9);
  // After the sign-in, which may take its time.
  expect(asked).toStrictEqual(operation(name).repeat === "safe" ? [] : [{ name, signIns: 1 }]);
  expect(sent).toBe(1);
});

it("ends a call that is to be sent for the first time: nothing is sent", async () => {
  const { asked, error, sent } = await callChecked("createPayout", () => answers.createPayout, 0);
  expect(error).toStrictEqual(paused("createPayout"));
  expect(asked).toHaveLength(1);
  expect(sent).toBe(0);
});

it("is asked before each repeat, after the wait, and ends the repeats", async () => {
  const tooMany: Answer = () => ({ status: 429, headers: { "retry-after": "0.05" } });
  const { asked, error, sent } = await callChecked("createPayout", tooMany, 2);
  expect(error).toStrictEqual(paused("createPayout"));
  expect(asked).toHaveLength(3);
  expect(sent).toBe(2);
});

it("is asked before the repeat with a fresh token, too", async () => {
  const { asked, error, sent } = await callChecked("createPayout", () => ({ status: 401 }), 1);
  expect(error).toStrictEqual(paused("createPayout"));
  expect(asked.map(({ signIns }) => signIns)).toStrictEqual([1, 2]);
  expect(sent).toBe(1);
});

it("does not hide that an earlier send is in doubt", async () => {
  const { error, sent } = await callChecked("createCard", () => ({ status: 502 }), 1);
  expect(error).toMatchObject({
    _tag: "OutcomeUnknown",
    carriedOut: "unknown",
    message: "createCard got no answer to an earlier send; then: Sending is paused.",
  });
  expect(sent).toBe(1);
});

it("a process that stood still while it connected does not send after its time", async () => {
  await using server = await startServer(() => answers.createPayout);
  const now = performance.now.bind(performance);
  let stoodStillMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + stoodStillMs);
  // After the request was handed to a connection, and before that is there.
  const standStill = () =>
    Effect.sync(() => {
      setImmediate(() => {
        stoodStillMs = 60_000;
      });
    });
  const call = PaymentsClient.use((client) =>
    Effect.flip(client.createPayout(requests.createPayout)),
  );
  const error = await call.pipe(
    Effect.provideService(BeforeSend, standStill),
    Effect.provide(
      PaymentsClient.layer(settingsFor(server.url, { maxAttempts: 1, requestTimeoutMs: 30_000 })),
    ),
    Effect.runPromise,
  );
  clock.mockRestore();
  expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  expect(server.requests).toEqual([]);
});
