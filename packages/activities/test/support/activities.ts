import { type ClientSettings, PaymentsClient, PaymentsError } from "@durable-payments/api-core";
import type { Simulator } from "@durable-payments/simulator";
import type { Info } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import {
  ApplicationFailure,
  type Logger,
  type LogLevel,
  type LogMetadata,
} from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { ManagedRuntime, Schema } from "effect";
import { type ActivitiesOptions, makePaymentsActivities, type RunStart } from "../../src/index.ts";

export const API_KEY = "api-key-that-nobody-may-see";

/** How the run was started to which the activities of these environments belong. */
export const START: RunStart = { workflowId: "test", firstRunId: "first", taskQueue: "test" };

/**
 * Activities over a client of that service, which repeats nothing by itself. Sends are not paused and
 * runs are open, unless the options say otherwise.
 */
export const activitiesFor = (
  url: string,
  settings: Partial<ClientSettings> = {},
  options: ActivitiesOptions = {},
) => {
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer({
      baseUrl: url,
      clientId: "client-1",
      apiKey: API_KEY,
      maxAttempts: 1,
      ...settings,
    }),
  );
  const activities = makePaymentsActivities(runtime, {
    readPause: async () => undefined,
    readRunState: async () => "open",
    readEarlierRuns: async () => [],
    readRunStart: async () => START,
    ...options,
  });
  return { activities, runtime, close: () => runtime.dispose() };
};

/** Activities over a simulator. */
export const activitiesOver = (
  { apiKey, clientId, url }: Simulator,
  settings: Partial<ClientSettings> = {},
  options: ActivitiesOptions = {},
) => activitiesFor(url, { clientId, apiKey, ...settings }, options);

/** What an activity's worker would have logged. */
export interface Logged {
  readonly level: LogLevel;
  readonly message: string;
  readonly meta: LogMetadata | undefined;
}

const loggerTo = (logged: Array<Logged>): Logger => {
  const log = (level: LogLevel, message: string, meta?: LogMetadata) =>
    void logged.push({ level, message, meta });
  const at = (level: LogLevel) => (message: string, meta?: LogMetadata) =>
    log(level, message, meta);
  return {
    log,
    trace: at("TRACE"),
    debug: at("DEBUG"),
    info: at("INFO"),
    warn: at("WARN"),
    error: at("ERROR"),
  };
};

let activityIds = 0;

/** One environment, to cancel an activity in it or to see its heartbeats. */
export const environment = (
  info: Partial<Info> = {},
  { client, logged = [] }: { readonly client?: Client; readonly logged?: Array<Logged> } = {},
): MockActivityEnvironment =>
  new MockActivityEnvironment(
    {
      scheduledTimestampMs: Date.now(),
      currentAttemptScheduledTimestampMs: Date.now(),
      startToCloseTimeoutMs: 300_000,
      // In a workflow no two activities share an id.
      activityId: String((activityIds += 1)),
      ...info,
    },
    { logger: loggerTo(logged), ...(client && { client }) },
  );

/** Runs an activity as a worker would: by default its first attempt, scheduled just now. */
export const run = <Input, Output>(
  activity: (input: Input) => Promise<Output>,
  input: Input,
  info?: Partial<Info>,
  options?: Parameters<typeof environment>[1],
): Promise<Output> =>
  environment(info, options).run<[Input], Output, (input: Input) => Promise<Output>>(
    activity,
    input,
  );

/** What an activity failed with. */
export const failureOf = async (running: Promise<unknown>): Promise<ApplicationFailure> => {
  const error = await running.then(
    (value) => new Error(`It did not fail, but gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
};

const decode = Schema.decodeUnknownSync(PaymentsError);

/** The client's error in the details of a failure. */
export const errorIn = (failure: ApplicationFailure): PaymentsError => decode(failure.details?.[0]);
