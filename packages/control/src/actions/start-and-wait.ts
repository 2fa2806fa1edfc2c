/*
 * A start that waits for the first answer about its payment must be exactly as safe as a plain start. It is not obvious, since the request has two parts: Temporal may have started the run although no answer, or an error, arrives.
 * So nothing here starts again; the run that has the id says whether it is this start's, and if so, the answer is "started".
 */
import type { Ledger } from "@durable-payments/ledger";
import type { Duration } from "@durable-payments/protocol";
import { createdUpdate, type EarlyAnswer } from "@durable-payments/protocol/calls";
import {
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { msToNumber } from "@temporalio/common/lib/time.js";
import { connectionFailed } from "../errors.ts";
import { detailsOf, hasCode } from "../facts/connection/temporal-errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { paymentOf } from "../rules/payment.ts";
import { startedOf } from "./first-answer.ts";
import {
  askedOf,
  isSame,
  recordStart,
  refuseOther,
  type StartAtOptions,
  typeOf,
} from "./start-request.ts";

/** A started payment, with the first that is known of it. */
export type StartedPayment<W extends Workflow = Workflow> = EarlyAnswer & {
  readonly run: WorkflowHandle<W>;
};

/** Longest time to look whether the run exists, after no response has arrived. */
const LOOK_WITHIN_MS = 5_000;

const NO_LEDGER =
  "Nobody can approve it yet: the ledger does not know who started it. Start it again with the same key and input, and with the ledger.";

/** Completes an answer: without the ledger, its run is not recorded. */
const answerOf = (answer: EarlyAnswer, ledger: Ledger | undefined): EarlyAnswer =>
  answer.is === "needs approval" && ledger === undefined
    ? { ...answer, reason: `${answer.reason} ${NO_LEDGER}` }
    : answer;

/**
 * Starts a run as `startPaymentAt` does, and waits for its first answer.
 *
 * The start and the question are one request (update-with-start), which Temporal carries out once, however often its
 * client sends it. If no response arrives, the run itself says whether it is this start's.
 */
export const startAndWait = async <W extends Workflow>(
  now: number,
  client: Client,
  workflowType: string | W,
  { within, ...options }: StartAtOptions<W> & { readonly within: Duration },
): Promise<StartedPayment<W>> => {
  const { workflowId } = options;
  const type = typeOf(workflowType);
  const payment = paymentOf(options.args[0], options.ledger);
  const startWorkflowOperation = new WithStartWorkflowOperation<W>(
    type,
    askedOf(now, type, options, payment),
  );
  const run = client.workflow.getHandle<W>(workflowId);
  let isRecorded = false;
  const waiting = client.withDeadline(Date.now() + msToNumber(within), async () => {
    const update = await client.workflow.startUpdateWithStart<W, EarlyAnswer, []>(createdUpdate, {
      startWorkflowOperation,
      waitForStage: "ACCEPTED",
    });
    await recordStart(type, update.workflowRunId ?? "", options, payment);
    isRecorded = true;
    return update.result();
  });
  try {
    return { ...answerOf(await waiting, options.ledger), run };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      await refuseOther(client, type, options);
      throw error;
    }
    if (isRecorded) return { ...startedOf(error), run };
    const isOpen =
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      hasCode(error, "leftOpen") ||
      hasCode(error, "notReady");
    if (!isOpen) throw error;
    const isOurs = await client
      .withDeadline(Date.now() + LOOK_WITHIN_MS, async () => {
        const found = await findRun(client, workflowId);
        return found && (await isSame(client, found, type, options));
      })
      .catch(() => undefined);
    if (isOurs === undefined)
      throw connectionFailed(
        "temporalError",
        `Temporal did not answer: ${detailsOf(error)}. The run ${workflowId} may have been started: start it again with the same key, which never starts it twice.`,
        { action: "show", workflowId },
        "unknown",
      );
    await refuseOther(client, type, options);
    return { ...startedOf(error), run };
  }
};
