import type { PaymentsActivities } from "@durable-payments/activities";
import { isRecord } from "@durable-payments/client/values";
import {
  accountQueue,
  type Believed,
  CANCELLED,
  UNDO,
  type WriteAnswer,
  type WriteCall,
  type WriteOptions,
} from "@durable-payments/protocol/calls";
import { isKey, KEY_RULE } from "@durable-payments/protocol/inputs";
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from "@temporalio/workflow";
import { noteApproval, noteFailure, noteMade } from "../early-answer.ts";
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
  /**
   * Business key, such as `salary/2026-11/e17`: the write is the same whichever workflow asks, and however often. The
   * same request returns the kept result, and another one fails with `AlreadyCarriedOut`.
   */
  readonly key?: string | undefined;
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

const NAME = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

const OPTIONS: ReadonlySet<string> = new Set<keyof StepOptions>(["account", "key", "step"]);

/** Operations that move no money and make nobody: a repeat is harmless. All others need a key where runs repeat. */
const HARMLESS: ReadonlySet<string> = new Set([
  "createBalance",
  "createBeneficiary",
  "updateBeneficiary",
  "removeCardholder",
  "updateCard",
  "cancelCard",
  "freezeCard",
]);

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

/** Returns the name of a step without one of its own. */
const localName = (operation: string, key: string | undefined): string =>
  key === undefined ? operation : `${operation} ${key}`;

/** The compiler does not see every call. */
export const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Reserves the name of a call: code with a wrong name fails before anything is sent. */
const claim = (
  { name, operation, request }: Write,
  options: StepOptions,
): [step: string, called: CalledStep] => {
  const { steps } = runState();
  const { account, key } = options;
  const { step = localName(name ?? operation, key) } = options;
  const isNamed = options.step !== undefined || key !== undefined;
  const before = steps.get(step);
  const { changing, isContinued, whyKey } = identity();
  // The compiler does not see every call: a misspelt key would be ignored.
  const unknown = Object.keys(options).find((option) => !OPTIONS.has(option));
  if (unknown !== undefined) {
    return failTask(`The step ${step} has no option ${JSON.stringify(unknown)}.`);
  }
  // A request of an operation of your own may be any other value.
  if (isMissing(request)) return failTask(`The step ${step} needs a request.`);
  if (!NAME.test(options.step ?? operation)) {
    return failTask(`The step ${JSON.stringify(step)} must have a name of 1 to 100 characters.`);
  }
  if (key !== undefined && !isKey(key)) {
    return failTask(`The key ${JSON.stringify(key)} of ${operation} must have ${KEY_RULE}.`);
  }
  const changed = changing.find((id) => key?.includes(id));
  if (changed !== undefined) {
    return failTask(
      `The key ${JSON.stringify(key)} contains the id ${changed}, which another run for the same does not have. Say in the key what it is for, and for which period.`,
    );
  }
  if (!isNamed && before !== undefined) {
    return failTask(
      `The step ${step} is called a second time. Name it: ${operation}(…, { step: "…" }).`,
    );
  }
  // Such a step needs no more than a name, if its run continues another.
  const isHarmless = HARMLESS.has(operation) && (isNamed || !isContinued);
  if (key === undefined && whyKey !== undefined && !isHarmless) {
    return failTask(
      `${whyKey}, so the step ${step} needs a key that says what it is for: ${operation}(…, { key: "…" }).`,
    );
  }
  const isOther =
    before?.operation !== operation || before.account !== account || before.key !== key;
  if (before !== undefined && (isOther || !before.isNamed)) {
    return failTask(
      `The step ${step} is already a ${before.operation} of this run. Another operation, account or key needs another name.`,
    );
  }
  const called = before ?? newStep(operation, isNamed, options);
  steps.set(step, called);
  return [step, called];
};

/** Facts about the run in each call of a step. */
const callOf = (step: string, { calls, key, version: seen }: CalledStep, run: Identity) => {
  const kept = key === undefined && calls === 1 ? run.voucher?.versions?.[step] : undefined;
  const version = seen ?? kept;
  const { believed } = runState();
  return {
    step,
    rootId: run.rootId,
    runId: run.runId,
    isContinued: run.isContinued,
    call: calls,
    isFirst: run.voucher?.is === "first",
    ...(key !== undefined && { key }),
    ...(version !== undefined && { version }),
    ...(believed.length > 0 && { believed }),
  };
};

type Mode = Pick<WriteCall, "mode">;

/**
 * Calls the activity of a step until no person is needed, and closes the step if it is cancelled. It uses callbacks
 * instead of `await`: the SDK takes a stack trace of each promise, which is the main cost of a replay.
 */
const untilAnswered = (
  step: string,
  called: CalledStep,
  call: (mode: Mode) => Promise<WriteAnswer>,
  mode: Mode = {},
): Promise<Fields> => {
  const again = (next: Mode) => untilAnswered(step, called, call, next);
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
    return CancellationScope.nonCancellable(() => again({ mode: "close" }));
  };
  return call(mode).then((answer) => {
    // An activity can be completed by hand, with anything.
    if (!isRecord(answer)) return again(mode);
    if (answer.is === "done" && isRecord(answer.made)) return answer.made;
    if (answer.is === "waiting") {
      called.version = answer.version;
      if (answer.needs === "approval") noteApproval(answer.why);
    }
    return condition(() => nudgesOf(state, step) > seen, SLOW, {
      summary: `Waiting for a person: inbox ${workflowInfo().workflowId}`,
    }).then(() => again(mode), failed);
  }, failed);
};

/** The other steps that this run has called with an operation: none of them is a renamed step. */
const otherStepsOf = (operation: string, step: string): ReadonlyArray<string> =>
  [...runState().steps].flatMap(([name, called]) =>
    called.operation === operation && name !== step ? [name] : [],
  );

const moneyIn = ({ amount, card_limit, currency }: Fields): string | undefined => {
  if (typeof amount === "string")
    return typeof currency === "string" ? `${amount} ${currency}` : amount;
  return typeof card_limit === "string" ? `${card_limit} USD` : undefined;
};

const send = (
  { operation, ...given }: Write,
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
  const otherSteps = run.voucher?.is === "first" ? [] : otherStepsOf(operation, step);
  // The types of the steps guarantee a plain object.
  const request = given.request as Fields;
  const summary = [step, moneyIn(request)].filter(Boolean).join(": ");
  const { account, key } = called;
  /** Received results that the last call has compared with the ledger. */
  let compared = state.believed;
  const believe = (outcome: Pick<Believed, "ids" | "outcome">) => {
    const of = { step, operation, ...(account && { account }), ...(key && { key }) };
    state.believed = [...state.believed, { ...of, ...outcome }];
  };
  const call = (mode: Mode) => {
    compared = mode.mode === undefined ? state.believed : [];
    // The activities of all writes share this type, also those of own operations.
    const write = activityOf(operation as "createPayout", called, summary);
    return write({
      ...callOf(step, called, run),
      isNamed: called.isNamed,
      request,
      ...options,
      ...(planned.length > 0 && { planned }),
      ...(otherSteps.length > 0 && { otherSteps }),
      ...mode,
    });
  };
  return untilAnswered(step, called, call).then(
    (made) => {
      called.made = made;
      noteMade(operation, made);
      const ids = Object.entries(made).flatMap(([field, id]) =>
        /^(.*_)?id$/.test(field) && typeof id === "string" ? [id] : [],
      );
      for (const id of ids) state.accounts.set(id, account);
      state.believed = state.believed.filter((one) => !compared.includes(one));
      believe({ ids });
      return made;
    },
    (failure: unknown) => {
      const { type } = failure instanceof ApplicationFailure ? failure : {};
      noteFailure(operation, failure);
      believe({ outcome: isCancellation(failure) ? CANCELLED : (type ?? "error") });
      throw failure;
    },
  );
};

/**
 * Sends a write exactly once, however often its activity runs: the step's row of the ledger has its outcome.
 *
 * @returns the fields of the service's response that the ledger keeps.
 */
export const sendWrite = (
  write: Write,
  options: StepOptions = {},
  how: WriteOptions = {},
): Promise<Fields> => {
  const named = claim(write, options);
  const [, called] = named;
  const now = () => send(write, named, how);
  // Calls of one name run in order: the later one continues from the version of the earlier one.
  const sent = called.last === undefined ? now() : called.last.then(now, now);
  called.last = sent;
  return sent;
};

/**
 * Undoes a step: removes the cardholder, cancels the card, or calls the `undo` of an operation of your own.
 * Changes that the workflow id made to that card or cardholder are undone with it. A step without a result stays unchanged;
 * an unknown outcome is reconciled first. It also works in a cancelled run.
 *
 * @param step name of the step: its operation, unless it was named.
 * @param options the step's key; and its account, if an earlier run of the workflow id has called it. Default: the account
 *   of the call.
 * @throws CannotBeUndone if the operation cannot be undone, or the step was sent for another account; Refused if the
 *   service does not undo it.
 * @example
 * ```ts
 * await undo("reserveGoods");
 * ```
 */
export const undo = (
  step: string,
  { account, key }: Pick<StepOptions, "account" | "key"> = {},
): Promise<void> =>
  CancellationScope.nonCancellable(async () => {
    if (typeof step !== "string") return failTask("undo needs the name of a step.");
    const run = identity();
    const { steps } = runState();
    const called =
      steps.get(localName(step, key)) ??
      // The row of a key names its operation.
      newStep(key === undefined ? UNDO : step, true, { account, key });
    await called.last?.catch(() => undefined);
    const { made, operation } = called;
    const call = () => {
      const send = activityOf(UNDO, called, `undo ${step}`);
      return send({ ...callOf(step, called, run), operation, ...(made !== undefined && { made }) });
    };
    await untilAnswered(step, called, call, { mode: "close" });
  });
