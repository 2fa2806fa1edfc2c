import type { AboveLimit, PaymentsActivities, PlannedRequest } from "@durable-payments/activities";
import {
  type ApprovalOptions,
  type ApprovalRequest,
  type EndingDecision,
  STEP,
  intentOf,
  isOwnSend,
  namesSomebody,
  type Payee,
  paymentMemoOf,
  textAt,
} from "@durable-payments/protocol";
import { patched, workflowInfo } from "@temporalio/workflow";
import { localActivities } from "../run/activities.ts";
import { PROVED } from "../run/approvals.ts";
import { runFailure } from "../run/failures.ts";
import { expectReadable, object, optional, text } from "../run/input-faults.ts";
import type { RunState } from "../run/run-state.ts";
import { type Run, stateOf } from "../run/run.ts";
import { decisionOn } from "./approval-decision.ts";
import { describePayee } from "./payee.ts";

/** A payment that may have to be approved. */
export interface ToApprove {
  /** What is paid: a decimal string in units of `currency`. */
  readonly amount: string;
  /** With it, the limit of the worker for this currency (PAYMENTS_APPROVE_ABOVE) counts, too. */
  readonly currency?: string;
  /** The whole payload; the approval is bound to it. */
  readonly payload: unknown;
  /** How it is paid: the approval is bound to it, too, and where only this was amended it is not asked for anew. */
  readonly how?: unknown;
  /** What the second person is shown. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** Whom it pays: shown as the service and the journal know it. */
  readonly payee?: Payee;
  /** What is sent of it: the activity that sends it gets that it was approved. */
  readonly requests?: ReadonlyArray<Omit<PlannedRequest, "at">>;
  /** What people have rejected of it before, in runs of other ids too, each overruled by somebody. */
  readonly overruled?: ReadonlyArray<EndingDecision & { readonly startedBy: string }>;
}

/** Who started the run, as its memo says. */
export const startedBy = (): string | undefined => {
  const name: unknown = workflowInfo().memo?.["startedBy"];
  return namesSomebody(name) ? name : undefined;
};

/**
 * The hash that an approval is bound to.
 *
 * @throws InvalidRequest where there is no payload: the approval would be one of anything.
 */
export const approvalHash = (payload: unknown): string => {
  // Undefined for what JSON cannot hold, whatever its type says.
  const text = JSON.stringify(payload) as string | undefined;
  if (text !== undefined) return intentOf("approval", [text]);
  throw runFailure("InvalidRequest", "What is to be approved (payload) is missing.");
};

/** An amount above a limit, and whether what is shown of it has its payee. */
interface ToShow extends AboveLimit {
  /** Left out where a marker of the history says it. */
  readonly showsPayee?: true;
}

/**
 * Compare an amount with the limits. What is shown of it then follows from the answer: `patched` directly after a
 * local activity may get its marker into another workflow task than the local activity's, and then the run cannot
 * be replayed. Runs that were begun before have that marker, and another answer: true, or why.
 */
export const compareWithLimits = async (
  compared: Parameters<PaymentsActivities["isAbove"]>[0],
): Promise<false | ToShow> => {
  const above: boolean | string | AboveLimit = await localActivities.isAbove(compared);
  if (typeof above === "object") return { ...above, showsPayee: true };
  if (typeof above === "string") return { why: above };
  return above && {};
};

const readable = object({
  approval: object({ above: optional(text) }),
  toApprove: object({ amount: text, currency: optional(text) }),
});

/**
 * Wait, however long it takes, for a second person when an amount is above a limit: that of the run, or of the
 * worker. What this run has been approved is not asked for again.
 *
 * @param approval the limit of the run; without one, that of the worker alone counts.
 * @returns whether a person was asked: meanwhile the run may have been amended.
 * @throws Rejected when the second person says no; InvalidRequest where the payload, the amount or the limit is missing
 *   or cannot be read.
 */
export const awaitApproval = async (
  run: Run,
  approval: Partial<ApprovalOptions>,
  toApprove: ToApprove,
): Promise<boolean> => {
  const state = stateOf(run);
  const { approvals } = state;
  expectReadable({ approval, toApprove }, STEP.awaitApproval, readable);
  const { above } = approval;
  const { amount, currency, how, payload } = toApprove;
  const hash = approvalHash(payload);
  approvals.isOutdated = false;
  if (approvals.approved === hash) return false;
  approvals.isBound = true;
  approvals.above = above;
  const toShow = await compareWithLimits({
    amount,
    ...(above !== undefined && { limit: above }),
    ...(currency !== undefined && !approvals.isOfBatch && { currency }),
  });
  if (toShow === false) return false;
  const { showsPayee, why = `above ${above ?? "a limit"}` } = toShow;
  await askSecondPerson(state, why, {
    ...toApprove,
    ...(showsPayee && { showsPayee }),
    hash: how === undefined ? hash : approvalHash([payload, how]),
  });
  approvals.approved = hash;
  return true;
};

/** A request that a step is about to send. */
interface ToSend {
  readonly operation: PlannedRequest["operation"];
  readonly request: object;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly step: string;
  /** Why it has to be approved. */
  readonly why: string;
}

/**
 * Wait for a second person to approve a request that the worker does not send without it: amended since it was
 * approved, say, or to be sent again by the decision of a person.
 *
 * @throws Rejected when the second person says no.
 */
export const approveSend = async (
  state: RunState,
  { operation, request, shown, step, why }: ToSend,
): Promise<void> => {
  const beneficiary_id = textAt(request, "beneficiary_id");
  const used = state.approvals.usedByOther({ operation, input: request }, step);
  // Who has approved one of the same must not take this for the same question.
  const alike =
    used === undefined ? "" : `, and the approval of such a payment was used by ${used}`;
  await askSecondPerson(state, `${why}${alike}`, {
    hash: approvalHash([operation, request]),
    shown: { operation, ...shown },
    ...(beneficiary_id !== undefined && { payee: { beneficiary_id } }),
    requests: [{ operation, input: request }],
    forStep: step,
  });
  state.resume(step);
};

/** Why a second person has to approve anew what an amended input pays; undefined where it is not above a limit. */
const whyAnew = async (
  { approvals: { above } }: RunState,
  paid: { readonly amount: string; readonly currency?: string | undefined },
): Promise<string | undefined> => {
  const { amount, currency } = paid;
  const toShow = await compareWithLimits({
    amount,
    ...(above !== undefined && { limit: above }),
    ...(currency !== undefined && { currency }),
  });
  if (toShow === false) return undefined;
  return `amended since it was approved, ${toShow.why ?? `above ${above ?? "a limit"}`}`;
};

/** Before, an approval covered every send of its request by an operation of a user's own. */
const COVERS_ONE = "an approval covers one send of an own operation";

/** Whether {@link approveOwn} has something to ask: mostly not, and then nothing is awaited. */
export const mayNeedOwnApproval = (
  { approvals }: RunState,
  { operation, request, step }: Pick<ToSend, "operation" | "request" | "step">,
): boolean =>
  isOwnSend(operation) &&
  (approvals.isOutdated ||
    approvals.usedByOther({ operation, input: request }, step) !== undefined);

/**
 * Wait for a second person to approve what an operation of a user's own is to send, where the run was approved before
 * its input was amended, or another step has used the approval of such a request. Those of the payment service are
 * refused by their activities until they are approved.
 *
 * @throws Rejected when the second person says no.
 */
export const approveOwn = async (state: RunState, send: Omit<ToSend, "why">): Promise<void> => {
  const { approvals } = state;
  const { operation, request, step } = send;
  const asked = { operation, input: request };
  if (approvals.usedByOther(asked, step) !== undefined && state.goesBy(COVERS_ONE)) {
    return await approveSend(state, { ...send, why: "each is approved by itself" });
  }
  const amount = textAt(request, "amount");
  if (!approvals.isOutdated || amount === undefined || approvals.isApproved(asked, step)) return;
  const why = await whyAnew(state, { amount, currency: textAt(request, "currency") });
  if (why !== undefined) await approveSend(state, { ...send, why });
};

/**
 * Wait for a second person to approve what a child workflow is to be started with, where its parent was approved before
 * its input was amended: the child knows nothing of the limit of its parent.
 *
 * @throws Rejected when the second person says no.
 */
export const approveAmendedChild = async (
  state: RunState,
  {
    args,
    step,
    type,
  }: { readonly args: ReadonlyArray<unknown>; readonly step: string; readonly type: string },
): Promise<void> => {
  const payment = paymentMemoOf(type, args[0]);
  const why =
    payment === undefined ? "amended since it was approved" : await whyAnew(state, payment);
  if (why === undefined) return;
  await askSecondPerson(state, why, {
    hash: approvalHash([type, args]),
    shown: { workflow: type, ...payment },
  });
  state.resume(step);
};

/** Ask, and keep who has approved which requests. */
const askSecondPerson = (
  state: RunState,
  why: string,
  {
    forStep,
    hash,
    overruled = [],
    payee,
    requests = [],
    shown,
    showsPayee,
  }: Omit<ToApprove, "amount" | "payload"> &
    Pick<ToShow, "showsPayee"> & {
      readonly hash: string;
      /** The step that sends what is approved, where that is known. */
      readonly forStep?: string;
    },
): Promise<void> => {
  const note = `${why}: a second person has to approve`;
  const ask = async (step: string): Promise<void> => {
    const known = payee !== undefined && (showsPayee ?? patched("an approval shows the payee"));
    const { mark, ...described } = known ? await describePayee(payee) : {};
    const request: ApprovalRequest = {
      payment: { ...shown, ...described },
      // Whoever has the id of a beneficiary can change there who is paid: that is approved, too.
      hash: mark === undefined ? hash : approvalHash([hash, mark]),
      why,
      startedBy: startedBy(),
      ...changesOf(state, overruled),
      since: new Date().toISOString(),
    };
    const given = await decisionOn(state, step, { note, request });
    const rejected = "reject" in given ? given.reject : undefined;
    state.audit.add({
      who: given.by,
      step,
      what: rejected === undefined ? "approved" : "rejected",
      detail: { hash: request.hash, ...(rejected !== undefined && { why: rejected }) },
    });
    if (rejected !== undefined) {
      throw runFailure("Rejected", `${given.by} rejected the payment: ${rejected}`, {
        by: given.by,
        step,
        why: rejected,
      });
    }
    const approved = { requests, ...(mark !== undefined && { payee: mark }) };
    const { firstExecutionRunId: firstRunId } = workflowInfo();
    const proofs =
      requests.length > 0 && patched(PROVED)
        ? await localActivities.proveApproval({ firstRunId, ...approved })
        : [];
    state.approvals.approve(requests, given.by, {
      ...approved,
      ...(forStep !== undefined && { step: forStep }),
      proofs,
    });
  };
  // It is one stage to those who search for what is to be approved, however often it is asked.
  return state.step(STEP.awaitApproval, note, ask, { stage: STEP.awaitApproval });
};

/** Who has changed what is to be approved, or a decision about it, and so cannot approve it; and what was amended. */
const changesOf = (
  { amendedBy, approvals, decisions }: RunState,
  overruled: NonNullable<ToApprove["overruled"]>,
): Pick<ApprovalRequest, "amended" | "amendedBy" | "overruledBy" | "rejectedOf" | "resentBy"> => {
  // A run that was reset knows of decisions once a step of it has begun.
  const overruledBy = [...decisions, ...overruled].flatMap((decision) =>
    decision.overruled ? [decision.overruled.by] : [],
  );
  const rejectedOf = overruled.map((rejected) => rejected.startedBy);
  const { amended, resentBy } = approvals;
  return {
    ...(amendedBy.length > 0 && { amendedBy }),
    ...(amended.length > 0 && { amended }),
    ...(resentBy.length > 0 && { resentBy }),
    ...(overruledBy.length > 0 && { overruledBy }),
    ...(rejectedOf.length > 0 && { rejectedOf }),
  };
};
