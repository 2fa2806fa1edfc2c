import { Clock, Context, Effect } from "effect";
import { expect, it } from "vitest";
import {
  BeforeSend,
  type OperationName,
  operationNames,
  PaymentsClient,
  Unavailable,
} from "../../src/effect.ts";
import { operation } from "../../src/contract.ts";
import { answers } from "../support/responses.ts";
import { anyEffect, settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, refusal, startServer } from "../support/server.ts";

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
  expect(asked).toStrictEqual(operation(name).idempotency === "safe" ? [] : [{ name, signIns: 1 }]);
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
  const { asked, error, sent } = await callChecked("createPayout", () => refusal("nope", 401), 1);
  expect(error).toStrictEqual(paused("createPayout"));
  expect(asked.map(({ signIns }) => signIns)).toStrictEqual([1, 2]);
  expect(sent).toBe(1);
});

it("does not hide that an earlier send is in doubt", async () => {
  const { error, sent } = await callChecked("createCard", () => ({ status: 502 }), 1);
  expect(error).toMatchObject({
    _tag: "OutcomeUnknown",
    carriedOut: "unknown",
    message:
      "createCard got no response to an earlier send; then: Sending is paused. " +
      "It may have taken effect: if it is sent again, then with the same unique_request_id.",
  });
  expect(sent).toBe(1);
});

/** Many calls of a client with two connections to a service that answers when the test has it answer. */
const manyCalls = async (name: "createPayout" | "createCard") => {
  const held: Array<() => void> = [];
  let isAnswering = false;
  const { body } = answers[name];
  await using server = await startServer(() => ({ response }) => {
    const answer = () => void response.end(JSON.stringify(body));
    if (isAnswering) answer();
    else held.push(answer);
  });
  let isPaused = false;
  const check = (called: OperationName) =>
    Effect.suspend(() => (isPaused ? Effect.fail(paused(called)) : Effect.void));
  const calls = PaymentsClient.use((client) =>
    Effect.all(
      Array.from({ length: 10 }, () => Effect.result(anyEffect(client, name)(requests[name]))),
      { concurrency: "unbounded" },
    ),
  ).pipe(
    Effect.provideService(BeforeSend, check),
    Effect.provide(PaymentsClient.layer(settingsFor(server.url, { maxConnections: 2 }))),
    Effect.runPromise,
  );
  await server.received(2);
  isPaused = true;
  isAnswering = true;
  for (const answer of held) answer();
  const results = await calls;
  return { results: results.map(({ _tag }) => _tag), sent: server.requests.length };
};

it.each(["createPayout", "createCard"] as const)(
  "is asked after the wait for a connection: what waits for one is refused by then (%s)",
  async (name) => {
    const { results, sent } = await manyCalls(name);
    expect(sent).toBe(2);
    expect(results.filter((tag) => tag === "Success")).toHaveLength(2);
  },
);

it("a process that stood still after it was asked does not send by the permission it got", async () => {
  await using server = await startServer(() => answers.createPayout);
  let stoodStillNs = 0n;
  const live = Context.get(Context.empty(), Clock.Clock);
  const clock: Clock.Clock = {
    currentTimeMillis: live.currentTimeMillis,
    currentTimeMillisUnsafe: () => live.currentTimeMillisUnsafe(),
    currentTimeNanos: live.currentTimeNanos,
    currentTimeNanosUnsafe: () => live.currentTimeNanosUnsafe(),
    monotonicTimeNanos: live.monotonicTimeNanos,
    sleep: (duration) => live.sleep(duration),
    monotonicTimeNanosUnsafe: () => live.monotonicTimeNanosUnsafe() + stoodStillNs,
  };
  // After the request was handed to the connection, and before its first byte.
  const standStill = () =>
    Effect.sync(() => {
      queueMicrotask(() => {
        stoodStillNs = 2_000_000_000n;
      });
    });
  const call = PaymentsClient.use((client) =>
    Effect.flip(client.createPayout(requests.createPayout)),
  );
  const error = await call.pipe(
    Effect.provideService(BeforeSend, standStill),
    Effect.provide(PaymentsClient.layer(settingsFor(server.url, { maxAttempts: 1 }))),
    Effect.provideService(Clock.Clock, clock),
    Effect.runPromise,
  );
  expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  expect(error.message).toContain(
    "not sent: no connection was ready within a second of the permission to send",
  );
  expect(server.requests).toEqual([]);
});
