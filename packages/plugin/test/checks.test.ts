import {
  NotAuthenticated,
  PaymentsClient,
  type PaymentsClientShape,
} from "@durable-payments/api-core";
import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import type { Client } from "@temporalio/client";
import { Effect, Layer, ManagedRuntime, Redacted } from "effect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { journalCheck, signInCheck, temporalCheck } from "../src/health/checks.ts";

let closed: AbortController;
beforeEach(() => {
  vi.useFakeTimers();
  closed = new AbortController();
});
afterEach(() => {
  closed.abort();
  vi.useRealTimers();
});

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

it("a journal that fails is told after a minute, until it can be written again", async () => {
  const noteListLag = vi.fn<Journal["noteListLag"]>(async () => {});
  const check = journalCheck({ ...makeMemoryJournal(), noteListLag }, "eu", closed.signal);
  noteListLag.mockRejectedValue(new Error("database is locked"));
  await seconds(55);
  expect(check()).toEqual({ check: "journal", account: "eu", ok: true });
  await seconds(10);
  const why = "for 65 s: database is locked";
  expect(check()).toEqual({ check: "journal", account: "eu", ok: false, why });
  noteListLag.mockResolvedValue();
  await seconds(20);
  expect(check().ok).toBe(true);
});

it("a Temporal that does not answer is told after a minute", async () => {
  const client: unknown = {
    options: { namespace: "default" },
    withDeadline: (_deadline: number, ask: () => unknown) => ask(),
    workflowService: { describeNamespace: () => Promise.reject(new Error("no answer came")) },
  };
  const check = temporalCheck(client as Client, closed.signal);
  await seconds(61);
  expect(check()).toEqual({ check: "temporal", ok: false, why: "for 61 s: no answer came" });
});

it("a refused key is tried once a minute, another one at once", async () => {
  let apiKey = Redacted.make("first");
  const refused = new NotAuthenticated({ operation: "ping", carriedOut: "no", message: "refused" });
  const ping = vi.fn<() => Effect.Effect<void, NotAuthenticated>>(() =>
    Redacted.value(apiKey) === "first" ? Effect.fail(refused) : Effect.void,
  );
  const client: unknown = { ping };
  const runtime = ManagedRuntime.make(Layer.succeed(PaymentsClient, client as PaymentsClientShape));
  const account = { options: { apiKey: () => apiKey }, runtime };
  const check = signInCheck(account, undefined, closed.signal);
  await seconds(119);
  expect(ping).toHaveBeenCalledTimes(2);
  expect(check()).toEqual({ check: "signIn", ok: false, why: "refused" });
  apiKey = Redacted.make("second");
  await seconds(20);
  expect(check()).toEqual({ check: "signIn", ok: true });
});
