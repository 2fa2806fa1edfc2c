import { isRecord } from "@durable-payments/client/values";
import type { RunMemo } from "@durable-payments/protocol";
import { inputFaults } from "@durable-payments/protocol/inputs";
import {
  type Believed,
  CANCELLED,
  type EarlyAnswer,
  nudgeSignal,
  type Voucher,
  VOUCHER,
  type WriteCall,
} from "@durable-payments/protocol/calls";
import { defineSearchAttributeKey } from "@temporalio/common";
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  setHandler,
  type WorkflowInfo,
  workflowInfo,
} from "@temporalio/workflow";
import { InvalidRequest, PaymentFailure } from "./failures.ts";

/** Returns a step without calls. */
export const newStep = (
  operation: string,
  isNamed: boolean,
  { account, key }: { readonly account?: string | undefined; readonly key?: string | undefined },
) => ({
  operation,
  isNamed,
  account,
  key,
  /** How often its activity was called. */
  calls: 0,
  /** Version of the row in its last result. */
  version: undefined as number | undefined,
  /** Its result. */
  made: undefined as Readonly<Record<string, unknown>> | undefined,
  /** The present or last call. */
  last: undefined as Promise<unknown> | undefined,
});
/** A step that was called in this run. */
export type CalledStep = ReturnType<typeof newStep>;

/** The shape of the state is frozen within a major version: copies of this package share it. */
const install = () => {
  const state = {
    steps: new Map<string, CalledStep>(),
    /** The account of each result, by its id. */
    accounts: new Map<string, string | undefined>(),
    /** Open waits, by the id of their activity. */
    waits: new Map<string, Promise<unknown>>(),
    /** Children that this run has vouched for. */
    children: new Set<string>(),
    /** Requests that the next write checks too. */
    planned: [] as NonNullable<WriteCall["planned"]>,
    /** Outcomes of steps and waits that no later write has compared with the ledger. */
    believed: [] as ReadonlyArray<Believed>,
    /** Nudges that named all steps, and by step. */
    nudges: 0,
    nudged: new Map<string, number>(),
    /** The first that is known of the payment, for its start. */
    early: { answer: undefined as EarlyAnswer | undefined },
    /** Fails every workflow task, even if the workflow catches the error. */
    fault: undefined as Error | undefined,
  };
  const { nudged } = state;
  // Anyone may send a signal, with any content. So it is parsed, and only makes steps read the ledger again.
  setHandler(nudgeSignal, (nudge: unknown) => {
    const steps: unknown = isRecord(nudge) ? nudge["steps"] : undefined;
    if (!Array.isArray(steps)) state.nudges += 1;
    else for (const step of steps.map(String)) nudged.set(step, (nudged.get(step) ?? 0) + 1);
  });
  return state;
};

/** State of a run that its steps share. */
export type RunState = ReturnType<typeof install>;
/** The answer of a run to its start. */
export type Early = RunState["early"];

const KEY = Symbol.for("durable-payments/run@1");

// Own properties of the global object are per run, even if one context is reused for all runs.
const shared = globalThis as { [KEY]?: RunState };

/** Returns the state of this run; the first step installs it. */
export const runState = (): RunState => (shared[KEY] ??= install());

/**
 * Fails the workflow task: the code is wrong. Nothing is sent, and the run continues with a corrected deployment.
 *
 * @throws Error always; a `catch` of the workflow cannot swallow it.
 */
export const failTask = (message: string): never => {
  const state = runState();
  if (state.fault === undefined) {
    // A condition that throws fails the workflow task. It is first evaluated before there is a fault.
    void CancellationScope.nonCancellable(() =>
      condition(() => {
        if (state.fault !== undefined) throw state.fault;
        return false;
      }),
    );
    state.fault = new Error(`${message} (${workflowInfo().workflowType})`);
  }
  throw state.fault;
};

/** Returns how often a step was nudged. If the number has grown, the step reads the ledger again. */
export const nudgesOf = ({ nudged, nudges }: RunState, step: string): number =>
  nudges + (nudged.get(step) ?? 0);

/**
 * Refuses an input without the fields that a workflow reads, before anything is sent.
 *
 * @throws InvalidRequest with every fault.
 */
export const refuseFaults = (...input: Parameters<typeof inputFaults>): void => {
  const faults = inputFaults(...input).map(
    ({ field, problem }) => `${field === "" ? "input" : `input.${field}`} ${problem}`,
  );
  if (faults.length > 0) throw new InvalidRequest(`${faults.join("; ")}. Nothing was sent.`);
};

/** Search attribute that Temporal sets in each run of a Schedule. */
const SCHEDULED_BY = defineSearchAttributeKey("TemporalScheduledById", "KEYWORD");

/** The time that a Schedule adds to the id of each run that it starts. */
const FIRED = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Parts by which programs make an id unique: a UUID, a time of day, milliseconds since 1970. */
const UNIQUE =
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d{4}-?\d\d-?\d\dT\d\d|(?<!\d)[12]\d{12}(?!\d)/i;

/**
 * Returns whether the next run for the same payment may have another id. The id of a root that no Schedule started is as
 * lasting as the payment that it names.
 */
const isChanging = (id: string, rootId: string): boolean =>
  UNIQUE.test(FIRED.test(rootId) ? id : id.replaceAll(rootId, ""));

/** Returns why another run like this one would make the same payment again, under another id. */
const whyRepeated = (isContinued: boolean, rootId: string): string | undefined => {
  const { parent, typedSearchAttributes, workflowId } = workflowInfo();
  const schedule = typedSearchAttributes.get(SCHEDULED_BY);
  if (schedule !== undefined) return `The Schedule ${schedule} started the run`;
  if (isContinued) return "The run continued as new, or has a cron schedule";
  return parent !== undefined && isChanging(workflowId, rootId)
    ? `The child workflow ${workflowId} may have another id in the next run of its parent`
    : undefined;
};

/** A voucher holds for a run that starts within this time of it. */
const HOLDS_MS = 10_000;

/**
 * Reads the voucher of a run. A copied memo, a reset, a schedule and a continued run have none: their first send is
 * reconciled.
 */
export const voucherOf = ({
  cronSchedule = "",
  firstExecutionRunId,
  memo,
  runId,
  startTime,
  workflowId,
}: WorkflowInfo): Voucher | undefined => {
  const given = memo?.[VOUCHER] as Partial<Voucher> | undefined;
  if (given?.workflowId !== workflowId || typeof given.at !== "number") return undefined;
  if (given.is !== "first" && given.is !== "retry") return undefined;
  if (runId !== firstExecutionRunId || cronSchedule !== "") return undefined;
  return Math.abs(startTime.getTime() - given.at) <= HOLDS_MS ? (given as Voucher) : undefined;
};

/** Returns the facts about this run. */
export const identity = () => {
  const info = workflowInfo();
  const { runId, workflowId } = info;
  const isContinued =
    info.continuedFromExecutionRunId !== undefined || (info.cronSchedule ?? "") !== "";
  const rootId = info.root?.workflowId ?? workflowId;
  return {
    workflowId,
    rootId,
    runId,
    /** The run follows another of its chain, or its id has a cron schedule. */
    isContinued,
    /** Why money needs a key in this run. */
    whyKey: whyRepeated(isContinued, rootId),
    /** Ids that no key may contain. */
    changing: [workflowId, rootId].filter((id) => isChanging(id, rootId)),
    voucher: voucherOf(info),
  };
};
/** Facts about a run that each of its writes passes on. */
export type Identity = ReturnType<typeof identity>;

/**
 * Vouches for a child workflow that this run starts for the first time. The first sends of the child then need no check at
 * the service. Only an id that begins with this workflow's own is vouched for: no other parent can have it.
 *
 * @param workflowId of the child: `PARENT/NAME`, without another slash.
 * @returns a memo for the child. Without a voucher its first send is reconciled, which takes minutes.
 * @example
 * ```ts
 * const workflowId = `${workflowInfo().workflowId}/deposit`;
 * await executeChild(payDeposit, { workflowId, args: [order], memo: voucherFor(workflowId) });
 * ```
 */
export const voucherFor = (workflowId: string): RunMemo => {
  const { children } = runState();
  const { voucher, workflowId: own } = identity();
  const isOwn =
    workflowId.startsWith(`${own}/`) && /^[^/]+$/.test(workflowId.slice(own.length + 1));
  if (voucher?.is !== "first" || !isOwn || children.has(workflowId)) return {};
  children.add(workflowId);
  return { [VOUCHER]: { workflowId, at: Date.now(), is: "first" } };
};

/** Returns the failure of an activity that ends a step; any other error unchanged. */
export const asPaymentFailure = (error: unknown): unknown => {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure)) return error;
  if (cause.type === CANCELLED) return new CancelledFailure(cause.message);
  // `instanceof` compares its type.
  return cause instanceof PaymentFailure ? cause : error;
};
