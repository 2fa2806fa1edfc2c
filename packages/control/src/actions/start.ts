import { copyOf, isRecord } from "@durable-payments/client/values";
import { contentHash, type Duration, WORKFLOW } from "@durable-payments/protocol";
import { hashOf } from "@durable-payments/protocol/account";
import {
  type Client,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithStartDetails,
} from "@temporalio/client";
import type { NextAction } from "../errors.ts";
import { accountNamed, type Connected } from "../facts/connection/connections.ts";
import { changing } from "../facts/connection/temporal-errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { readInput } from "../facts/run-input.ts";
import { check, isObject, oneOf } from "../rules/filter.ts";
import { checkId, idOfKey, type PlannedRun } from "../rules/input.ts";
import { paymentOf } from "../rules/payment.ts";
import { checkName } from "./decide/record.ts";
import { checkReason, refuseDuplicate, startUnlessDuplicate } from "./duplicates.ts";
import { checkWait } from "./first-answer.ts";
import { isForgottenDone, otherRun, refuseFiled } from "./forgotten.ts";
import { refuseAboveLimits } from "./limits.ts";
import { startAndWait, type StartedPayment } from "./start-and-wait.ts";
import {
  askedOf,
  checkWorkflow,
  NOTHING,
  recordLost,
  recordStart,
  refuseOther,
  type StartAtOptions,
  typeOf,
} from "./start-request.ts";

export type { StartedPayment } from "./start-and-wait.ts";

/** How a payment is started. */
export interface StartPaymentOptions<W extends Workflow> extends Omit<
  StartAtOptions<W>,
  "workflowId"
> {
  /** The business key, of which the workflow id is made: `invoice-17` makes `payout/invoice-17`. */
  readonly key: string;
}

/** How a payment is started whose first answer is awaited. */
export interface AwaitedStartOptions<W extends Workflow> extends Omit<
  StartPaymentOptions<W>,
  "startDelay"
> {
  /** Waits until the first payout, cardholder or card of the run is created, needs approval, or is refused. */
  readonly waitFor: "created";
  /** Temporal takes no delay with a question. */
  readonly startDelay?: never;
  /** Longest time to wait; then it answers `started`. Default: 30 seconds. */
  readonly within?: Duration;
}

/**
 * Starts a run as {@link startPayment} does, under an id, and without looking for likely duplicates.
 *
 * @param now Temporal's time. Within 10 s of it the run vouches for itself as the first of its id: its first send need
 *   not be reconciled.
 */
export const startPaymentAt = async <W extends Workflow>(
  now: number,
  client: Client,
  workflowType: string | W,
  options: StartAtOptions<W>,
): Promise<WorkflowHandleWithStartDetails<W>> => {
  const type = typeOf(workflowType);
  const payment = paymentOf(options.args[0], options.ledger);
  const starting = client.workflow.start<W>(type, askedOf(now, type, options, payment));
  const handle = await starting.catch(async (error: unknown) => {
    if (error instanceof WorkflowExecutionAlreadyStartedError)
      await refuseOther(client, type, options);
    throw error;
  });
  // Not before: a start that Temporal refused would make its person the starter of somebody else's run.
  await recordStart(type, handle.firstExecutionRunId, options, payment);
  return handle;
};

const ANSWER_WITHIN = "30 seconds";

/**
 * Starts a payment workflow once: a key that Temporal knows, open or ended, is refused; with another input, as
 * `NotAllowed`. With a ledger, so is what is likely a duplicate of a payment under another key, unless `notDuplicate` says
 * why it is not. Inputs are compared that have the fields of `payout` or `onboardCardholder`: `payout`, or `amount` and
 * `currency`; `beneficiary_id` or `beneficiary`.
 *
 * @param client Temporal's client.
 * @param workflowType the workflow, or its name.
 * @param options key, starter, arguments; memo, timeouts, delay, priority and more of Temporal's own; and `waitFor`.
 * @returns the handle of the run, whose id is `TYPE/KEY`. With `waitFor: "created"` in one call also its first answer:
 *   `created` with the service's id, `needs approval`, `refused`, or `started` if the outcome is not known in time. Every
 *   workflow in the bundle of a worker with the plugin gives it.
 * @throws WorkflowExecutionAlreadyStartedError if Temporal knows the key with the same input, whose start is then recorded if
 *   the ledger lacks it; NotAllowed if it has another input, or is likely a duplicate; InvalidInput if the key, name, memo
 *   or reason is invalid; ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer a call with `waitFor`,
 *   and it is not known whether the run has started.
 * @example
 * ```ts
 * const run = await startPayment<typeof payOrder>(client, "payOrder", {
 *   key: "order-17",
 *   startedBy: "ada",
 *   args: [order],
 * });
 * ```
 */
export async function startPayment<W extends Workflow>(
  client: Client,
  workflowType: string | W,
  options: AwaitedStartOptions<W>,
): Promise<StartedPayment<W>>;
export async function startPayment<W extends Workflow>(
  client: Client,
  workflowType: string | W,
  options: StartPaymentOptions<W> & { readonly waitFor?: never },
): Promise<WorkflowHandleWithStartDetails<W>>;
export async function startPayment<W extends Workflow>(
  client: Client,
  workflowType: string | W,
  given: StartPaymentOptions<W> & Partial<Pick<AwaitedStartOptions<W>, "waitFor" | "within">>,
): Promise<StartedPayment<W> | WorkflowHandleWithStartDetails<W>> {
  check(
    "start",
    { client: isObject, options: isObject },
    { client: client ?? null, options: given ?? null },
    NOTHING,
  );
  checkWorkflow(workflowType, given.args);
  const {
    key,
    waitFor,
    within = ANSWER_WITHIN,
    ...options
  } = {
    ...given,
    args: copyOf(given.args),
  };
  check("start", { waitFor: oneOf(["created"]) }, { waitFor }, NOTHING);
  checkWait(within);
  const { account, ledger, notDuplicate } = options;
  const [input]: ReadonlyArray<unknown> = options.args;
  const workflowId = idOfKey(typeOf(workflowType), key);
  checkReason(notDuplicate);
  const starting = { ...options, workflowId };
  const start = async () =>
    waitFor === undefined
      ? startPaymentAt(Date.now(), client, workflowType, starting)
      : startAndWait(Date.now(), client, workflowType, { ...starting, within });
  if (ledger === undefined) return start();
  await refuseFiled(ledger, workflowId);
  const planned = { account, workflowId, input, notDuplicate };
  return startUnlessDuplicate({ client, ledger }, planned, start);
}

/** How a planned run is started. */
export type StartOptions = Pick<StartAtOptions<Workflow>, "how" | "notDuplicate" | "startedBy">;

/** A new run, or the existing run of the id. */
export interface SubmittedRun {
  readonly workflowId: string;
  /** Null if Temporal has forgotten it. */
  readonly runId: string | null;
  /** Whether this call has started it. */
  readonly isNew: boolean;
  /** Temporal has forgotten the run; the ledger has its writes. */
  readonly isForgotten?: true;
  /** The run was started with other options, which still hold. */
  readonly hasOtherOptions?: true;
}

const optionsHash = (input: unknown): string =>
  hashOf((isRecord(input) ? input["options"] : undefined) ?? {});

/** The run of that id: started with the same input (`options` are how it waits), or forgotten by Temporal alone. */
const existing = async (
  connected: Connected,
  workflowId: string,
  planned: PlannedRun,
): Promise<SubmittedRun | undefined> => {
  const run = await findRun(connected.client, workflowId);
  if (run === undefined)
    return (await isForgottenDone(connected.ledger, workflowId, planned))
      ? { workflowId, runId: null, isNew: false, isForgotten: true }
      : undefined;
  const { runId, type } = run;
  const first = await readInput(connected, { workflowId, runId });
  if (type === planned.workflowType && contentHash(first) === contentHash(planned.input)) {
    const isSame = optionsHash(first) === optionsHash(planned.input);
    return { workflowId, runId, isNew: false, ...(!isSame && { hasOtherOptions: true }) };
  }
  throw await otherRun(connected.ledger, workflowId, planned.workflowType, type);
};

/** Finds the run of a start, and returns what is compared with earlier payments. */
const prepare = async (
  connected: Connected,
  id: string,
  planned: PlannedRun,
  { notDuplicate, startedBy }: StartOptions,
) => {
  const workflowId = checkId(id);
  checkName(startedBy);
  checkReason(notDuplicate);
  const { contentId, input, workflowType } = planned;
  const account = accountNamed(connected, input.account);
  const next: NextAction = {
    action: workflowType === WORKFLOW.payout ? "pay" : "onboard",
    needs: "notDuplicate",
    // To pay it anyway, the user gives the same id again.
    ...(workflowId !== contentId && { id: workflowId }),
  };
  const known = await existing(connected, workflowId, planned);
  const payment = known === undefined ? paymentOf(input) : undefined;
  // A later start of its id would find the failed run.
  if (payment !== undefined)
    await refuseAboveLimits(connected, account, payment, "Nothing was started.");
  return { known, compared: { account, workflowId, input, notDuplicate, next } };
};

/**
 * Checks all that `startRun` refuses. Nothing is started.
 *
 * @returns the run of that id, if there is one; else undefined: it can be started.
 * @throws as `startRun` does.
 */
export const checkStart = async (
  ...given: Parameters<typeof prepare>
): Promise<SubmittedRun | undefined> => {
  const { compared, known } = await prepare(...given);
  if (known === undefined) await refuseDuplicate(given[0], compared);
  return known;
};

/**
 * Starts a run, or finds the one of that id, running or ended. It can be called again after any failure: an id never
 * pays twice.
 *
 * @param id of the workflow.
 * @param planned result of `planPayout` or `planOnboarding`.
 * @throws NotAllowed if the id belongs to another input, or the payment is likely a duplicate; InvalidInput if the id or
 *   name is invalid, or the payment is above the limits of the account; ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer.
 */
export const startRun = async (
  connected: Connected,
  id: string,
  planned: PlannedRun,
  options: StartOptions,
): Promise<SubmittedRun> => {
  const { client, ledger, taskQueue } = connected;
  const { compared, known } = await prepare(connected, id, planned, options);
  const { account, workflowId } = compared;
  const args: [PlannedRun["input"]] = [planned.input];
  const starting = { ...options, workflowId, args, taskQueue, ledger, account };
  if (known !== undefined) {
    await recordLost(client, planned.workflowType, starting);
    return known;
  }
  const mayBe = `The run ${workflowId} may have been started`;
  try {
    const { firstExecutionRunId } = await startUnlessDuplicate(connected, compared, () =>
      changing(connected, workflowId, mayBe, () =>
        startPaymentAt<(input: PlannedRun["input"]) => Promise<unknown>>(
          Date.now(),
          client,
          planned.workflowType,
          starting,
        ),
      ),
    );
    return { workflowId, runId: firstExecutionRunId, isNew: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const other = await existing(connected, workflowId, planned);
    if (other === undefined) throw error;
    return other;
  }
};
