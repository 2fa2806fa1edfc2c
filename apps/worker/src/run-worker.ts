import { messageOf } from "@durable-payments/api-core/values";
import { InvalidSettings, PaymentsClient } from "@durable-payments/api-core";
import { makePaymentsActivities, readAmountLimits } from "@durable-payments/activities";
import { readablePayloads } from "@durable-payments/activities/readable-payloads";
import { isNotFound, taskQueueOf, temporalReason } from "@durable-payments/protocol";
import {
  readTemporalConfiguration,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import { Client } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Runtime, type WorkflowBundleOption } from "@temporalio/worker";
import { Cause, Exit, ManagedRuntime, Result } from "effect";
import { workflowBundle } from "./bundle/prebuilt-bundle.ts";
import { CannotStart } from "./cannot-start.ts";
import { deploymentFromEnvironment } from "./deployment.ts";
import { untilDraining } from "./draining.ts";
import { journalFromEnvironment, warnOfOtherHosts } from "./journal.ts";
import { keepRunning } from "./kept/keep-running.ts";
import { notifierOf, trackerOf } from "./kept/kept-workflows.ts";
import { WorkerLogger } from "./logger.ts";
import { notificationsFromEnvironment } from "./notifications.ts";
import { paymentsLayer } from "./payments-layer.ts";
import { ratesFromEnvironment, signInBudgetFromEnvironment } from "./rates.ts";
import { createWorkers, runWorkers } from "./run-queues.ts";
import { checkNamespaceReady } from "./namespace-ready.ts";

/** Where a worker polls. */
export interface Polling {
  readonly namespace: string;
  /** The base queue; the others are named after it. */
  readonly taskQueue: string;
  /** Where what is sent is remembered, in words. */
  readonly journal: string;
}

const LOG_LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] as const;

const logLevel = () => {
  const given = (process.env["PAYMENTS_LOG_LEVEL"] ?? "WARN").toUpperCase();
  const level = LOG_LEVELS.find((known) => known === given);
  if (level === undefined) {
    throw new CannotStart(`PAYMENTS_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}.`);
  }
  return level;
};

const limits = (name: "PAYMENTS_MAX_AMOUNTS" | "PAYMENTS_APPROVE_ABOVE") => {
  try {
    return readAmountLimits(name, process.env[name]);
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};

const temporalConfig = () => {
  try {
    return readTemporalConfiguration(process.env, loadClientConnectConfig);
  } catch (error) {
    throw new CannotStart(
      `Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is wrong: ${messageOf(error)}`,
    );
  }
};

const connect = async () => {
  const { connectionOptions, namespace = "default" } = temporalConfig();
  const address = connectionOptions.address ?? "localhost:7233";
  const connection = await NativeConnection.connect({
    ...connectionOptions,
    plugins: [readablePayloads],
  }).catch(async (error: unknown) => {
    const why = await whyUnreachable({ address, tls: connectionOptions.tls });
    throw new CannotStart(
      `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): ${why ?? temporalReason(error)}.`,
    );
  });
  await connection.workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    throw new CannotStart(
      isNotFound(error)
        ? `Temporal at ${address} has no namespace "${namespace}" for this worker (TEMPORAL_NAMESPACE).`
        : `Temporal at ${address} does not say whether it has the namespace "${namespace}" (TEMPORAL_NAMESPACE): ${temporalReason(error)}. Check TEMPORAL_API_KEY or the certificate of TEMPORAL_TLS_*.`,
    );
  });
  return { connection, namespace };
};

/** Builds the client, so that a wrong setting is reported before the worker takes any work. */
const buildClient = async (
  runtime: ManagedRuntime.ManagedRuntime<PaymentsClient, InvalidSettings>,
) => {
  const exit = await runtime.runPromiseExit(PaymentsClient);
  if (Exit.isSuccess(exit)) return exit.value;
  const failed = Cause.findError(exit.cause);
  throw Result.isSuccess(failed)
    ? new CannotStart(failed.success.message)
    : Cause.squash(exit.cause);
};

/**
 * Runs a worker until SIGTERM or SIGINT; then it takes no more work, finishes what it has begun
 * (30 seconds at most, after which activities are cancelled), and returns.
 *
 * @param bundle the workflows to run, default those of this project
 * @throws CannotStart, StaleBundle
 */
export const runWorker = async (
  onReady: (polling: Polling) => void,
  bundle: () => Promise<WorkflowBundleOption> = workflowBundle,
): Promise<void> => {
  Runtime.install({ logger: new WorkerLogger(logLevel()) });
  const taskQueue = taskQueueOf(process.env["PAYMENTS_TASK_QUEUE"]);
  const maxAmounts = limits("PAYMENTS_MAX_AMOUNTS");
  const approveAbove = limits("PAYMENTS_APPROVE_ABOVE");
  const rates = ratesFromEnvironment();
  const deployment = deploymentFromEnvironment();
  const signIns = signInBudgetFromEnvironment();
  const notifications = notificationsFromEnvironment();
  const { connection, namespace } = await connect();
  try {
    await checkNamespaceReady(connection, namespace);
    const client = new Client({ connection, namespace });
    const runtime = ManagedRuntime.make(paymentsLayer(client, signIns));
    const run = async (draining: AbortSignal) => {
      const { options: account } = await buildClient(runtime);
      const opened = await journalFromEnvironment(account);
      const { journal, where } = opened;
      try {
        const workers = await createWorkers({
          taskQueue,
          rates,
          shared: {
            ...deployment,
            connection,
            namespace,
            activities: makePaymentsActivities(runtime, {
              journal,
              ...(maxAmounts && { maxAmounts }),
              ...(approveAbove && { approveAbove }),
              tracker: { draining },
              notifier: { draining, settings: notifications },
            }),
            shutdownGraceTime: "30 seconds",
            shutdownForceTime: "1 minute",
          },
          workflows: { workflowBundle: await bundle() },
        });
        const running = runWorkers(workers);
        void keepRunning(client, trackerOf(account, taskQueue), draining);
        if (notifications) void keepRunning(client, notifierOf(taskQueue), draining);
        void warnOfOtherHosts(opened, client, taskQueue, draining);
        onReady({ namespace, taskQueue, journal: where });
        await running;
      } finally {
        await journal.close();
      }
    };
    try {
      await untilDraining(run);
    } finally {
      await runtime.dispose();
    }
  } finally {
    await connection.close();
  }
};
