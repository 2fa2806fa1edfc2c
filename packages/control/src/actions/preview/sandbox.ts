/*
 * The place where a preview runs: Temporal's time-skipping test server, a simulated service for each account, a scratch
 * ledger, and workers of the new code.
 *
 * Nothing in it knows the real service: its clients have the address and the key of a simulator. So no code can make a
 * request to the real one. Activities of a user's own would touch the world, so none runs: their
 * results come from a history or from the ledger, or the run stops there.
 *
 * The simulated service is supposed to have the objects that a request names, as the ledger or a history last saw them.
 */
import { makePaymentsActivities } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/client/effect";
import { isRecord, messageOf } from "@durable-payments/client/values";
import { accountQueue } from "@durable-payments/protocol/calls";
import { clientOptionsOf } from "@durable-payments/protocol/settings";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { ApplicationFailure } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import {
  type ActivityInterceptorsFactory,
  type InjectedSinks,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { ManagedRuntime, Result } from "effect";
import type { Connected, KnownAccount } from "../../facts/connection/connections.ts";
import { connectionFailed } from "../../errors.ts";
import { objectsIn, type Recorded } from "./histories.ts";

/** A running sandbox. */
export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

/** The budget of sign-ins follows the computer's clock, so skipped hours must not need new tokens. */
const LONG_TOKEN = "36500 days";

/** A stopped run does nothing more until it is ended. */
const NEVER = "3650 days";

const startServer = async (): Promise<TestWorkflowEnvironment> => {
  const { remedyOf, startTestEnvironment } = await import("@durable-payments/protocol/test-server");
  return startTestEnvironment("time-skipping").catch((error: unknown) => {
    throw connectionFailed(
      "cannotConnect",
      `Temporal's time-skipping test server cannot be started: ${messageOf(error)}. ${remedyOf("time-skipping")} Nothing was done.`,
    );
  });
};

/** The recorder of replays reports to nobody here. */
const sinks: InjectedSinks<{ replayRecorder: { activation: () => void } }> = {
  replayRecorder: { activation: { fn: () => undefined, callDuringReplay: false } },
};

/**
 * Opens a sandbox. Dispose of it.
 *
 * @param recordedOf returns the results that a workflow id keeps.
 * @throws ConnectionFailed if the test server cannot be started.
 */
export const openSandbox = async (
  { accounts, assumptionsOf, ledger: real, taskQueue }: Connected,
  bundle: WorkflowBundle,
  recordedOf: (workflowId: string) => Promise<Recorded>,
) => {
  const ends: Array<() => Promise<unknown>> = [];
  const end = async () => {
    for (const one of ends.splice(0).toReversed()) await one();
  };
  try {
    const environment = await startServer();
    ends.push(() => environment.teardown());
    const closing = new AbortController();
    let ahead = 0;
    const now = async () => {
      const time = await environment.currentTimeMs();
      ahead = time - Date.now();
      return time;
    };
    const ledger = await real.scratch(() => Date.now() + ahead);
    ends.push(() => ledger.close());
    const stopped = new Map<string, string>();
    const suppositions: Array<Simulator["suppose"]> = [];

    const activitiesOf = async ({ hash }: KnownAccount) => {
      const { apiKey, clientId, stop, suppose, url } = await startSimulator({
        clock: now,
        tokenLifetime: LONG_TOKEN,
      });
      ends.push(stop);
      suppositions.push(suppose);
      const access = { baseUrl: url, clientId, apiKey, assumptions: assumptionsOf(hash) };
      const options = Result.getOrThrow(clientOptionsOf(access));
      const runtime = ManagedRuntime.make(PaymentsClient.layer(options));
      ends.push(() => runtime.dispose());
      const own = { account: hash, ledger, taskQueue, waits: "polled" } as const;
      const activities = { ...makePaymentsActivities(runtime, own) };
      const asSeen = async (fields: Readonly<Record<string, unknown>>) => {
        const id = fields["payout_id"];
        const row = typeof id === "string" ? await ledger.payout(hash, id) : undefined;
        const { amount, currency, payee: beneficiary_id } = row?.request ?? {};
        return { amount, currency, beneficiary_id, payout_status: row?.word, ...fields };
      };
      const interceptor: ActivityInterceptorsFactory = ({ info }) => ({
        inbound: {
          execute: async (input, next) => {
            const { activityId, activityType } = info;
            const { workflowId = "" } = info.workflowExecution ?? {};
            const recorded = (await recordedOf(workflowId)).get(activityId);
            if (recorded !== undefined) return recorded();
            if (!(activityType in activities)) {
              const [call] = input.args;
              const step = isRecord(call) ? call["step"] : undefined;
              await ledger.bring(workflowId);
              const done = (await ledger.rowsOf(workflowId)).find((row) => row.step === step);
              // An operation of the user's own that has succeeded.
              if (done?.state === "done") return { is: "done", made: done.result ?? {} };
              stopped.set(workflowId, activityType);
              throw ApplicationFailure.create({ message: "preview", nextRetryDelay: NEVER });
            }
            for (const fields of objectsIn(input.args)) await suppose(await asSeen(fields));
            return next(input);
          },
        },
      });
      // Temporal calls it for every activity that is not among them.
      return { activities: { ...activities, default: async () => undefined }, interceptor };
    };

    const run = async (queue: string, account: KnownAccount, workflows: object) => {
      const { activities, interceptor } = await activitiesOf(account);
      const worker = await Worker.create({
        connection: environment.nativeConnection,
        taskQueue: queue,
        activities,
        interceptors: { activity: [interceptor] },
        shutdownForceTime: "5 seconds",
        ...workflows,
      });
      const running = worker.run();
      running.catch(() => undefined);
      ends.push(async () => {
        worker.shutdown();
        await running.catch(() => undefined);
      });
    };
    const [first, ...others] = accounts;
    if (first !== undefined) await run(taskQueue, first, { workflowBundle: bundle, sinks });
    for (const account of others)
      if (account.name !== undefined) await run(accountQueue(taskQueue, account.name), account, {});
    // Else the client would try a pending request again once its connection is closed.
    ends.push(async () => closing.abort());
    return {
      client: environment.client,
      ledger,
      /** Workflow ids that reached an activity that does not run here, with its name. */
      stopped,
      /** Supposes that the services have what some fields name. */
      suppose: async (fields: Readonly<Record<string, unknown>>) => {
        for (const one of suppositions) await one(fields);
      },
      /** Lets the server's time pass. */
      sleep: (milliseconds: number) =>
        environment.connection.withAbortSignal(closing.signal, () =>
          environment.sleep(milliseconds),
        ),
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
};
