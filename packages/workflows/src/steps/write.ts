import type { PaymentsActivities } from "@durable-payments/activities";
import {
  accountQueue,
  rowStep,
  UNDO,
  type UndoCall,
  type WriteAnswer,
  type WriteCall,
  type WriteOptions,
} from "@durable-payments/protocol/calls";
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from "@temporalio/workflow";
import { factsOf } from "../failures.ts";
import {
  asPaymentFailure,
  type Identity,
  identity,
  type CalledStep,
  failTask,
  newStep,
  nudgesOf,
  runState,
} from "../run.ts";

/** How a step is sent. */
export interface StepOptions {
  /** Name of the step. Default: its operation, for one call a run. A repeated name is the same write. */
  readonly step?: string | undefined;
  /** Name of the account that it is sent for. Default: the account without a name. */
  readonly account?: string | undefined;
}

/** A plain JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** A write of a step. */
export interface Write {
  readonly operation: string;
  readonly request: object;
  /** The step's name, if it is not the operation. */
  readonly name?: string;
}

/** Delay that a lost nudge costs. */
const SLOW = "12 hours";

const NAME = /^[^:\p{Cc}]{1,100}$/u;

/** Returns an activity of an account. */
export const activity = <Name extends keyof PaymentsActivities>(
  name: Name,
  account: string | undefined,
  options: ActivityOptions,
): PaymentsActivities[Name] =>
  proxyActivities<PaymentsActivities>({
    taskQueue: accountQueue(workflowInfo().taskQueue, account),
    ...options,
  })[name];

const activityOf = <Name extends keyof PaymentsActivities>(
  name: Name,
  { account, calls }: CalledStep,
  summary: string,
): PaymentsActivities[Name] =>
  activity(name, account, {
    startToCloseTimeout: "5 minutes",
    heartbeatTimeout: "15 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
    // The outcome of a send in flight is known once the activity has ended.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: calls > 1 ? `${summary} (call ${calls})` : summary,
  });

/** Reserves the name of a call: code with a wrong name fails before anything is sent. */
const claim = (
  { name, operation }: Write,
  { account, ...given }: StepOptions,
): [step: string, called: CalledStep] => {
  const { steps } = runState();
  const isNamed = given.step !== undefined;
  const step = given.step ?? name ?? operation;
  const before = steps.get(step);
  const advice = `Name it: ${operation}(…, { step: "…" }).`;
  if (!NAME.test(step)) {
    return failTask(
      `The step ${JSON.stringify(step)} must have a name of 1 to 100 characters, without colons.`,
    );
  }
  if (!isNamed && before !== undefined) {
    return failTask(`The step ${step} is called a second time. ${advice}`);
  }
  if (!isNamed && identity().isContinued) {
    return failTask(
      `The run continued as new, or has a schedule, and the step ${step} has no name: it would refer to the write of an earlier run. ${advice}`,
    );
  }
  if (before !== undefined && (before.operation !== operation || !before.isNamed)) {
    return failTask(
      `The step ${step} is already a ${before.operation} of this run. Give it another name.`,
    );
  }
  const called = before ?? newStep(operation, isNamed, account);
  steps.set(step, called);
  return [step, called];
};

/** Facts about the run in each call of a step. */
const callOf = (step: string, called: CalledStep, run: Identity) => {
  const kept = run.voucher?.versions?.[rowStep(run.rootId, { workflowId: run.workflowId, step })];
  const version = called.version ?? (called.calls === 1 ? kept : undefined);
  return {
    step,
    rootId: run.rootId,
    runId: run.runId,
    isContinued: run.isContinued,
    call: called.calls,
    isFirst: run.voucher?.is === "first",
    ...(run.startedBy !== undefined && { startedBy: run.startedBy }),
    ...(version !== undefined && { version }),
  } satisfies UndoCall;
};

type Mode = Pick<WriteCall, "mode">;

interface Sending {
  readonly step: string;
  readonly called: CalledStep;
  readonly call: (mode: Mode) => Promise<WriteAnswer>;
  readonly kept: (made: Fields) => Fields;
}

/**
 * Calls the activity of a step until no person is needed, and closes the step if it is cancelled. It uses callbacks
 * instead of `await`: the SDK takes a stack trace of each promise, which is the main cost of a replay.
 */
const untilAnswered = (sending: Sending, mode: Mode = {}): Promise<Fields> => {
  const { call, called, kept, step } = sending;
  const state = runState();
  const seen = nudgesOf(state, step);
  called.calls += 1;
  const failed = (error: unknown): Promise<Fields> => {
    const failure = asPaymentFailure(error);
    called.version = factsOf(failure)?.version ?? called.version;
    // After a cancellation Temporal retries nothing, so a failed or lost attempt does not decide the outcome.
    const isCutShort =
      isCancellation(failure) ||
      (CancellationScope.current().consideredCancelled && failure instanceof ActivityFailure);
    if (!isCutShort || mode.mode === "close") throw failure;
    // Waits for a send; ends a write that was not sent.
    return CancellationScope.nonCancellable(() => untilAnswered(sending, { mode: "close" }));
  };
  return call(mode).then((answer) => {
    if (answer.is === "done") return kept(answer.made);
    called.version = answer.version;
    return condition(() => nudgesOf(state, step) > seen, SLOW, {
      summary: `Waiting for a person: inbox ${workflowInfo().workflowId}`,
    }).then(() => untilAnswered(sending, mode), failed);
  }, failed);
};

/** Rows' steps that this run has called with an operation: none of them is a renamed step. */
const claimedBeside = (
  { rootId, workflowId }: Identity,
  operation: string,
  step: string,
): ReadonlyArray<string> =>
  [...runState().steps]
    .filter(([name, called]) => called.operation === operation && name !== step)
    .map(([name]) => rowStep(rootId, { workflowId, step: name }));

const moneyIn = ({ amount, card_limit, currency }: Fields): string | undefined => {
  if (typeof amount === "string")
    return typeof currency === "string" ? `${amount} ${currency}` : amount;
  return typeof card_limit === "string" ? `${card_limit} USD` : undefined;
};

const send = (
  { operation, ...write }: Write,
  [step, called]: [string, CalledStep],
  options: WriteOptions,
): Promise<Fields> => {
  const state = runState();
  const run = identity();
  if (CancellationScope.current().consideredCancelled) {
    return Promise.reject(new CancelledFailure("Cancelled"));
  }
  const { planned } = state;
  state.planned = [];
  const claimed = run.voucher?.is === "first" ? [] : claimedBeside(run, operation, step);
  // The types of the steps guarantee a plain object.
  const request = write.request as Fields;
  const summary = [step, moneyIn(request)].filter(Boolean).join(": ");
  return untilAnswered({
    step,
    called,
    call: (mode) =>
      activityOf(
        // The activity of each write has this type, that of an operation of your own, too.
        operation as "createPayout",
        called,
        summary,
      )({
        ...callOf(step, called, run),
        isNamed: called.isNamed,
        request,
        ...options,
        ...(planned.length > 0 && { planned }),
        ...(claimed.length > 0 && { claimed }),
        ...mode,
      }),
    kept: (made) => {
      called.made = made;
      for (const [field, id] of Object.entries(made)) {
        if (field.endsWith("_id") && typeof id === "string") {
          state.made.set(id, { account: called.account, request });
        }
      }
      return made;
    },
  });
};

/**
 * Sends a write exactly once, however often its activity runs: the step's row of the ledger has its outcome.
 *
 * @returns the kept part of the service's answer.
 */
export const sendWrite = (
  write: Write,
  options: StepOptions = {},
  how: WriteOptions = {},
): Promise<Fields> => {
  const claimed = claim(write, options);
  const [, called] = claimed;
  const now = () => send(write, claimed, how);
  // Calls of one name run in order: the later one continues from the version of the earlier one.
  const sent = called.last === undefined ? now() : called.last.then(now, now);
  called.last = sent;
  return sent;
};

/**
 * Undoes a step: removes the cardholder, cancels the card, or calls the `undo` of an operation of your own.
 * A step without a result stays unchanged; an unknown outcome is reconciled first. It also works in a cancelled run.
 *
 * @param step name of the step: its operation, unless it was named.
 * @param options the account of a step that an earlier run of the workflow id has called. Default: that of the call.
 * @throws CannotBeUndone if the operation cannot be undone, or the step was sent for another account; Refused if the
 *   service does not undo it.
 * @example
 * ```ts
 * await undo("reserveGoods");
 * ```
 */
export const undo = (step: string, { account }: Pick<StepOptions, "account"> = {}): Promise<void> =>
  CancellationScope.nonCancellable(async () => {
    const run = identity();
    const called = runState().steps.get(step) ?? newStep(UNDO, true, account);
    await called.last?.catch(() => undefined);
    const { made, operation } = called;
    const call = () =>
      activityOf(
        UNDO,
        called,
        `undo ${step}`,
      )({
        ...callOf(step, called, run),
        ...(made !== undefined && { made: { operation, fields: made } }),
      });
    await untilAnswered({ step, called, call, kept: (made) => made }, { mode: "close" });
  });
