import type { SentBefore } from "@durable-payments/protocol";
import { isCancellation } from "@temporalio/workflow";
import { localJournal } from "../run/activities.ts";
import { rootCause } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import { type Run, stateOf } from "../run/run.ts";
import { approveOwn, mayNeedOwnApproval } from "./approval.ts";
import { expectNotSentByOthers } from "./earlier-runs.ts";
import { takeAsOwn } from "./ownership.ts";
import { Sender } from "./sender.ts";
import type { Write } from "./write.ts";

/**
 * Send a write until its outcome is known: never twice on a guess, never given up on a guess.
 *
 * - Certainly not carried out (service unreachable, rate limited, sends paused): it waits and sends
 *   again, for as long as it takes.
 * - Refused: it fails with the refusal, or asks a person, who can amend the request.
 * - Unknown: it reconciles the write with the service's list. Found: that is the result. Absent after
 *   the list had time to catch up: it sends again. Unclear: it asks a person.
 * - Sent before, as the journal has it: it takes what that made, or reconciles it.
 *
 * @param write what is sent, by which activity, and how it is found where its answer is lost.
 * @returns what the write made: of the answer, of a list, or of the ids that a person gave.
 * @throws Refused or InvalidRequest where the service or a check said no, and nobody is asked.
 * @throws Abandoned where a person ends it.
 * @throws DuplicateStep where a step of this name has sent in this run.
 * @throws SentByEarlierRun where one has sent something else in an earlier run that this one continues, say.
 * @example
 * ```ts
 * const topUp = await run.step("topUp", "topping up the card", () =>
 *   sendAndReconcile(run, {
 *     step: "topUp",
 *     operation: "createPayout",
 *     request,
 *     intent: ({ amount, beneficiary_id }) => intentOf("topUp", [beneficiary_id, amount]),
 *     isKeyed: true,
 *     send: (sent, intent) => activities.createPayout(sent, intent),
 *     whenLost: "ask",
 *     shown: ({ amount, currency }) => ({ amount, currency }),
 *     idsWanted: ["payout_id"],
 *     fromIds: ({ payout_id = "" }) => activities.retrievePayout({ payout_id }),
 *     ids: ({ payout_id }) => ({ payout_id }),
 *   }),
 * );
 * ```
 */
export const sendAndReconcile = <Request extends object, A>(
  publicRun: Run,
  write: Write<Request, A>,
): Promise<A> => {
  const run = stateOf(publicRun);
  return run.send(write.step, () => sendUntilKnown(run, write));
};

const sendUntilKnown = async <Request extends object, A>(
  run: RunState,
  write: Write<Request, A>,
): Promise<A> => {
  run.sends.sendsOnce(write.step);
  const inAnyRun = await run.sentBefore(write.step);
  run.expectInputRead(write.step);
  run.approvals.use({ operation: write.operation, input: write.request }, write.step);
  const sent = run.hasEarlierRuns
    ? await expectNotSentByOthers(run, write, write.request)
    : ("perhaps" as const);
  const before = sent === "nothing" ? withoutDoubt(inAnyRun) : inAnyRun;
  run.sends.isReplaced(
    write.step,
    (before?.gone ?? []).flatMap((id) => write.idsWanted.map((name) => ({ [name]: id }))),
  );
  const known =
    before?.outcome === "known" ? await takeEarlierResult(run, write, before) : undefined;
  if (known !== undefined && "result" in known) {
    return recordResult(run, write, { result: known.result, what: "known from the run before" });
  }
  const sender = new Sender(
    run,
    write,
    before?.outcome === "known"
      ? { outcome: "unknown", amendments: 0, ...(before.gone && { gone: before.gone }) }
      : before,
  );
  try {
    let result: A | "send" = sender.hasEarlierSends
      ? await sender.reconcileEarlierSends({ isOwn: sent === "perhaps", ...known })
      : "send";
    while (result === "send") {
      const { operation, shown, step } = write;
      const { request } = sender;
      if (mayNeedOwnApproval(run, { operation, request, step })) {
        await approveOwn(run, { operation, request, shown: shown(request), step });
      }
      const intent = sender.begin();
      try {
        result = await run.shielded(() => write.send(sender.request, intent));
      } catch (error) {
        result = await sender.handleFailure(error);
      }
    }
    return recordResult(run, write, { result, what: "known" });
  } catch (error) {
    sender.close();
    throw error;
  }
};

/** Nothing was sent that could have been carried out. */
const withoutDoubt = (before: SentBefore | undefined): SentBefore | undefined =>
  before?.outcome === "unknown" ? { ...before, outcome: "nothing" } : before;

/** Read whether it is known what a step made before the run was reset: whatever led to it has been done. */
export const isMadeBefore = async (run: Run, step: string): Promise<boolean> =>
  (await stateOf(run).sentBefore(step))?.outcome === "known";

/** Before, what an instruction said of a step was believed. */
const KNOWN_TO_JOURNAL = "what is known of a run before is what the journal has";

/**
 * Take the result of a run before this one, by its history or as a person gave it: what a person gave
 * may belong to another step.
 *
 * @returns why not, where it is not what was sent, or another run or step has it.
 */
const takeEarlierResult = async <Request extends object, A>(
  run: RunState,
  write: Write<Request, A>,
  before: Extract<SentBefore, { readonly outcome: "known" }>,
): Promise<{ readonly result: A } | { readonly whyNot: string }> => {
  const { fromIds, operation, request, step } = write;
  let { givenBy } = before;
  try {
    if (givenBy === undefined && run.goesBy(KNOWN_TO_JOURNAL)) {
      // Who had it retried may have written anything into the instruction.
      const made = { step, operation, ids: before.ids };
      if (!(await localJournal.hasMade(made))) givenBy = run.retriedBy;
    }
    const result = await fromIds(before.ids, request, undefined, givenBy);
    await takeAsOwn(run, write, result);
    if (before.key !== undefined) run.sends.owns(step, before.key);
    return { result };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootCause(error).message;
    run.audit.add({ who: "run", step, what: "not what this step sent", detail: { reason } });
    const ids = Object.entries(before.ids).map(([name, id]) => `${name} ${id}`);
    const by = givenBy === undefined ? "" : `, as ${givenBy} gave it,`;
    return { whyNot: `What was known of it (${ids.join(", ")})${by} is not it: ${reason}` };
  }
};

/** Record what a write has made. */
const recordResult = <Request extends object, A>(
  run: RunState,
  { ids: idsOf, step }: Write<Request, A>,
  { result, what }: { readonly result: A; readonly what: string },
): A => {
  const ids = idsOf(result);
  run.known(ids, step);
  run.sends.clearIntent(step);
  // Nothing else of it stands: the journal permits no send after one that was carried out.
  run.sends.knowsAllSends(step);
  run.audit.add({ who: "run", step, what, detail: ids });
  return result;
};
