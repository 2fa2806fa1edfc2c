import { type ClientSettings, PaymentsClient } from "@durable-payments/client/effect";
import type { Simulator } from "@durable-payments/simulator";
import type { Info } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { ApplicationFailure, type Logger } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { ManagedRuntime } from "effect";
import { onTestFinished } from "vitest";

/** A runtime over a simulator, whose client repeats nothing by itself; it ends with the test. */
export const runtimeOver = (
  { apiKey, clientId, url }: Pick<Simulator, "apiKey" | "clientId" | "url">,
  settings: Partial<ClientSettings> = {},
) => {
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer({ baseUrl: url, clientId, apiKey, maxAttempts: 1, ...settings }),
  );
  onTestFinished(() => runtime.dispose());
  return runtime;
};

/** The log of attempts. */
export const silent: Logger = {
  log: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** An attempt of an activity in a run. */
export const attempt = (info: Partial<Info> = {}, client?: Client): MockActivityEnvironment =>
  new MockActivityEnvironment(
    {
      scheduledTimestampMs: Date.now(),
      currentAttemptScheduledTimestampMs: Date.now(),
      scheduleToCloseTimeoutMs: 0,
      workflowExecution: { workflowId: "run-1", runId: "1" },
      ...info,
    },
    { logger: silent, ...(client && { client }) },
  );

/** Runs an activity, as an attempt of it in a run. */
export const run = <Input, Output>(
  info: Partial<Info>,
  activity: (input: Input) => Promise<Output>,
  input: Input,
): Promise<Output> =>
  attempt(info).run<[Input], Output, (input: Input) => Promise<Output>>(activity, input);

/** What an activity failed with. */
export const failureOf = async (running: Promise<unknown>): Promise<ApplicationFailure> => {
  const error: unknown = await running.then(
    (value) => new Error(`It did not fail, but gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
};
