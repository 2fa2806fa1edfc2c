import { PaymentsClient, SignInLease } from "@durable-payments/api-core";
import { startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import type { Client } from "@temporalio/client";
import { Effect, Layer } from "effect";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { makeSignInLeases, type SignInBudget } from "../src/index.ts";

// A busy machine takes its time.

let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
beforeAll(async () => {
  temporal = await createLocalEnvironment();
});
afterAll(() => temporal?.teardown());

const account = (clientId: string) => ({ baseUrl: "https://payments.example", clientId });

const askers = (clientId: string, count: number, budget: SignInBudget) =>
  Effect.runPromise(
    Effect.all(
      Array.from({ length: count }, () =>
        Effect.result(makeSignInLeases(temporal.client, account(clientId), budget)),
      ),
      { concurrency: "unbounded" },
    ),
  );

it("no more leases are granted than the budget has, however many ask at once", async () => {
  const asked = await askers("crowd", 12, { perMinute: 5 });
  expect(asked.filter(({ _tag }) => _tag === "Success")).toHaveLength(5);
  const failed = asked.flatMap((one) => (one._tag === "Failure" ? [one.failure] : []));
  for (const error of failed) {
    expect(error).toMatchObject({
      _tag: "RateLimited",
      operation: "signIn",
      carriedOut: "no",
      message: expect.stringContaining("5 in a minute") as unknown,
    });
  }
  // Another account has its own.
  const [other] = await askers("somebody else", 1, { perMinute: 5 });
  expect(other?._tag).toBe("Success");
});

it("a lease is free again when its time is over, without any worker, and not before", async () => {
  const heldMs = 3_000;
  const ask = async () => (await askers("patient", 1, { perMinute: 1, heldMs }))[0]?._tag;
  const before = Date.now();
  expect(await ask()).toBe("Success");
  expect(await ask()).toBe("Failure");
  await vi.waitFor(async () => expect(await ask()).toBe("Success"), {
    timeout: 120_000,
    interval: 100,
  });
  // Temporal keeps the time of workflows in whole seconds.
  expect(Date.now() - before).toBeGreaterThan(heldMs - 1_000);
});

it("the id of a lease shows neither client id nor address", async () => {
  await askers("client-1", 1, {});
  const { executions } = await temporal.connection.workflowService.listOpenWorkflowExecutions({
    namespace: "default",
    typeFilter: { name: "signInLease" },
  });
  for (const { execution } of executions) {
    expect(execution?.workflowId).toMatch(/^sign-in\/[0-9a-f]{16}\/\d+$/);
  }
});

it("without Temporal nobody signs in", async () => {
  const simulator = await startSimulator();
  // Of a client, only the start of a lease is asked for.
  const nowhere = {
    withDeadline: <A>(_: unknown, call: () => Promise<A>) => call(),
    workflow: {
      start: async () => {
        throw new Error("connection refused");
      },
    },
  } as unknown as Client;
  const layer = PaymentsClient.layer({
    baseUrl: simulator.url,
    clientId: simulator.clientId,
    apiKey: simulator.apiKey,
    maxAttempts: 1,
  }).pipe(
    Layer.provide(
      Layer.succeed(SignInLease, makeSignInLeases(nowhere, account(simulator.clientId))),
    ),
  );
  const ping = PaymentsClient.use((client) => client.ping()).pipe(Effect.flip);
  expect(await Effect.runPromise(Effect.provide(ping, layer))).toMatchObject({
    _tag: "Unavailable",
    carriedOut: "no",
    message: expect.stringContaining("gave none (connection refused)") as unknown,
  });
  expect((await simulator.state()).sign_ins).toEqual([]);
  await simulator.stop();
});
