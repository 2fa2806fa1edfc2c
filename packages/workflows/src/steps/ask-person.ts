import type { JournalSend } from "@durable-payments/activities";
import {
  amendRequest,
  asSentence,
  type HumanTask,
  type ListReading,
} from "@durable-payments/protocol";
import { isCancellation } from "@temporalio/workflow";
import { rootCause } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import { checkRequest } from "./check-requests.ts";
import { describeSend } from "./describe-send.ts";
import { takeAsOwn } from "./ownership.ts";
import type { Write } from "./write.ts";

/** Whoever amends it here could make it another payment than the one that was approved. */
const AMEND_BY_RETRY =
  "This payment needs a second person's approval: to amend it, abandon it and retry the run amended, which asks for approval anew.";

/** What a person is asked about a send. */
interface AskedAbout<Request> {
  readonly reason: string;
  readonly candidates: HumanTask["candidates"];
  /** How the service's list was read, where it was. */
  readonly listRead?: ListReading | undefined;
  readonly canResend: boolean;
  readonly isInDoubt: boolean;
  /** What was sent before, as the journal has it, where that is another request than the one of now. */
  readonly other: JournalSend | undefined;
  readonly request: Request;
  /** From when on it may have been sent: milliseconds since 1970. */
  readonly since: number;
}

/** What was found out about a send, for the person who is asked about it. */
export type Evidence = Partial<Pick<AskedAbout<object>, "candidates" | "canResend" | "listRead">>;

/**
 * Ask a person what became of a send.
 *
 * @returns what it made, or that it is to be sent again.
 * @throws Abandoned when the decision is to end the run.
 */
export const askPerson = async <Request extends object, A>(
  run: RunState,
  sending: Write<Request, A>,
  asked: AskedAbout<Request>,
): Promise<A | "send"> => {
  const { candidates, canResend, isInDoubt, listRead, other, reason, request, since } = asked;
  const { fromIds, reconciler, step } = sending;
  const resolution = await run.ask(step, {
    ...describeSend(sending, {
      reason,
      request,
      other,
      left: run.sends.leftInDoubt(step),
    }),
    candidates,
    ...(listRead !== undefined && { listRead }),
    ...(isInDoubt && { inDoubtSince: new Date(since).toISOString() }),
    actions: canResend ? ["found", "resend", "abandon"] : ["found", "abandon"],
  });
  if (!("found" in resolution)) {
    const { operation } = sending;
    run.approvals.isSentAgain({ operation, input: request }, step, resolution.by);
    return "send";
  }
  const asSent = other && reconciler?.asSent?.(request, other);
  try {
    const result = await fromIds(resolution.found, asSent ?? request, candidates, resolution.by);
    await takeAsOwn(run, sending, result);
    // It may be what was sent before, under another key: the run is found by that, too.
    if (other?.key !== undefined) run.sends.owns(step, other.key);
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A mistyped id, say: it must not end the run, and the human task stays open.
    const fault = `What was found is not it: ${rootCause(error).message}`;
    return askPerson(run, sending, { ...asked, reason: fault });
  }
};

/**
 * Ask a person about a request that was refused, or not accepted as it is.
 *
 * @returns the request as it was amended; undefined where it is to be sent as it is.
 * @throws Abandoned when the decision is to end the run.
 */
export const askToAmend = async <Request extends object, A>(
  run: RunState,
  sending: Write<Request, A>,
  { reason, request }: { readonly reason: string; readonly request: Request },
): Promise<Request | undefined> => {
  const { operation, step } = sending;
  const { isBound } = run.approvals;
  let amended: Request | undefined;
  const resolution = await run.ask(
    step,
    {
      ...describeSend(sending, {
        reason: isBound ? `${asSentence(reason)} ${AMEND_BY_RETRY}` : reason,
        request,
        other: undefined,
        left: run.sends.leftInDoubt(step),
      }),
      candidates: [],
      actions: isBound ? ["resend", "abandon"] : ["amend", "resend", "abandon"],
    },
    async (amendment) => {
      const changed = amendRequest(operation, request, amendment);
      await checkRequest(run, sending, changed);
      amended = changed;
    },
  );
  if (!("amend" in resolution)) return undefined;
  if (amended !== undefined) {
    run.approvals.requestWasAmended(request, amended, resolution.by);
    return amended;
  }
  // Histories of before have amendments of the request's own shape, which were checked when they were taken.
  const before = { ...request, ...resolution.amend };
  try {
    await checkRequest(run, sending, before);
    run.approvals.requestWasAmended(request, before, resolution.by);
    return before;
  } catch (error) {
    return askToAmend(run, sending, { reason: rootCause(error).message, request });
  }
};
