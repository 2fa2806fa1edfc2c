import type { SeenPayout } from "@durable-payments/activities";
import {
  bearsKey,
  contradictionOf,
  intentOfPayout,
  isOtherId,
  paysTheSame,
  type SentPayout,
} from "@durable-payments/activities/match-rows";
import type { CreatePayoutInput, Payout } from "@durable-payments/api-core";
import { COMPLETE_WITHIN, type HumanTask, STEP, textAt } from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";
import { activities, localReadings } from "../run/activities.ts";
import { failureOfActivity, runFailure } from "../run/failures.ts";
import { expectReadable, expectTimes, object, text, waiting } from "../run/input-faults.ts";
import { type Run, stateOf } from "../run/run.ts";
import { awaitCompletion, type AwaitCompletionOptions } from "./await-completion.ts";
import { READ_OPTIONS } from "./reconcile.ts";
import { sendAndReconcile } from "./send.ts";
import type { Reconciler } from "./write.ts";

const shown = (payout: CreatePayoutInput) => ({
  beneficiary_id: payout.beneficiary_id,
  amount: payout.amount,
  currency: payout.currency,
  payout_reference: payout.payout_reference ?? "",
  payment_date: payout.payment_date,
  unique_request_id: payout.unique_request_id ?? "",
});

const asCandidate = ({
  amount = "",
  beneficiary_id = "",
  create_time = "",
  currency = "",
  payout_id,
  payout_reference = "",
  payout_status = "",
  unique_request_id = "",
}: Payout) => ({
  payout_id,
  payout_status,
  beneficiary_id,
  amount,
  currency,
  payout_reference,
  create_time,
  unique_request_id,
});

const payoutReconciler: Reconciler<CreatePayoutInput, Payout> = {
  find: (request, search) =>
    activities.findPayouts.executeWithOptions(
      { ...READ_OPTIONS, summary: `Find the payout ${request.unique_request_id ?? ""}` },
      [{ request, ...search }],
    ),
  shown: asCandidate,
  asSent: (request, { amount, currency, key }) => ({
    ...request,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(key !== undefined && { unique_request_id: key }),
  }),
};

/**
 * The payout that a person found. One that pays something else, or somebody else, is a mistake; but
 * not one that the person was asked about for all that: services list fields in their own way.
 */
const foundPayout = async (
  { payout_id = "" }: Readonly<Record<string, string>>,
  request: CreatePayoutInput,
  candidates: HumanTask["candidates"] = [],
): Promise<Payout> => {
  const answered = await activities.retrievePayout({ payout_id });
  // What is waited for is the payout that is named: an answer about another one is none about it.
  const found = isOtherId(payout_id, answered.payout_id) ? { ...answered, payout_id } : answered;
  const isAskedAbout = candidates.some((candidate) => candidate["payout_id"] === payout_id);
  const isKeyed = bearsKey(found.unique_request_id, request.unique_request_id);
  if (isAskedAbout || isKeyed || paysTheSame(request, found)) return found;
  const { amount = "?", beneficiary_id = "?", currency = "?" } = found;
  throw runFailure(
    "OtherPayout",
    `${payout_id} pays ${amount} ${currency} to ${beneficiary_id}, not ${request.amount} ${request.currency} to ${request.beneficiary_id}.`,
  );
};

const readable = object({ amount: text, beneficiary_id: text, currency: text });

const noteOf = (payout: Partial<Omit<CreatePayoutInput, "unique_request_id">> | null): string =>
  `creating the payout of ${textAt(payout, "amount") ?? "?"} ${textAt(payout, "currency") ?? "?"}`;

/**
 * Create a payout, exactly once: it carries a key derived from the run and the step, and is
 * reconciled with the service's list before it is ever sent a second time.
 *
 * @param payout the request, in the service's field names; `amount` is a decimal string.
 * @param step name of the step, where a run creates several payouts.
 * @returns the payout as the service answered it, or as the list or a person showed it, and what was sent.
 * @throws InvalidRequest where amount, currency or beneficiary_id is no string; Refused where the service says no, unless
 *   the run asks a person then.
 * @throws Abandoned where a person ends the run.
 * @example
 * ```ts
 * const created = await createPayout(run, {
 *   beneficiary_id,
 *   amount: "12.50",
 *   currency: "EUR",
 *   payout_reason: "Payment for goods",
 *   payout_reference: "Invoice 17",
 *   payment_date: "2026-12-01",
 *   is_payer: "Y",
 * });
 * const { outcome } = await awaitPayout(run, created, { within: "7 days" });
 * ```
 */
export const createPayout = (
  run: Run,
  payout: Omit<CreatePayoutInput, "unique_request_id">,
  step: string = STEP.createPayout,
): Promise<Payout & CreatedPayout> =>
  run.step(step, noteOf(payout), async () => {
    expectReadable(payout, step, readable);
    // The latest request: a person may amend it.
    let sent: SentPayout = payout;
    const created = await sendAndReconcile<CreatePayoutInput, Payout>(run, {
      step,
      operation: "createPayout",
      // As it is sent and listed, however it is given.
      request: { ...payout, currency: payout.currency.toUpperCase() },
      intent: intentOfPayout,
      isKeyed: true,
      send: (request, intent) => {
        sent = request;
        return activities.createPayout.executeWithOptions(
          { summary: `Create the payout of ${request.amount} ${request.currency}` },
          [request, intent],
        );
      },
      reconciler: payoutReconciler,
      whenLost: "reconcile",
      shown,
      idsWanted: ["payout_id"],
      fromIds: (ids, request, candidates) => {
        sent = request;
        return foundPayout(ids, request, candidates);
      },
      ids: ({ payout_id }) => ({ payout_id }),
    });
    const { amount, beneficiary_id, currency } = sent;
    sent = { amount, beneficiary_id, currency: currency.toUpperCase() };
    const contradiction = contradictionOf(sent, created);
    if (contradiction !== undefined) {
      run.note(`the service answered the creation with ${contradiction}`);
    }
    return { ...created, sent };
  });

/** A payout as it was created; what was sent, where that is known, is compared with how it ends. */
export type CreatedPayout = Pick<Payout, "payout_id"> & { readonly sent?: SentPayout };

/** A payout at the end of the wait for it: `open` where it has not ended within the time. */
export type AwaitedPayout = Payout & { readonly outcome: "completed" | "open" };

/**
 * Wait until a payout has ended: until the tracker signals it and the payout itself shows it, or the run
 * sees it by itself. Neither silence of the service nor the end of the wait is a failure of the payout:
 * after `within`, default 30 days, it reads once more, and returns the payout as it then is, with the
 * outcome `open` and no `complete_time`.
 *
 * @returns the payout as it was read last.
 * @throws PayoutFailed where the service says that the payout failed.
 * @throws PayoutContradicted where the service reports another amount, currency or beneficiary than was sent.
 * @throws InvalidRequest where `within` or `pollInterval` is no length of time; the payout stands.
 * @throws PayoutNotReadable where it was created, and has an id by which nothing can be read.
 */
export const awaitPayout = (
  run: Run,
  created: CreatedPayout,
  { within = COMPLETE_WITHIN, ...options }: AwaitCompletionOptions = {},
): Promise<AwaitedPayout> =>
  run.step(STEP.awaitPayout, "waiting for the payout to complete", async (step) => {
    expectReadable(created, step, object({ payout_id: text }), "It was not awaited.");
    const { payout_id, sent } = created;
    const waits = { within, ...options };
    expectTimes(waits, step, waiting, `The payout ${payout_id} was created, and stands.`);
    const asked = { payout_id, ...(sent && { sent }) };
    const reading = { summary: `Read the payout ${payout_id}` };
    const seen = await awaitCompletion<SeenPayout>(
      run,
      {
        step,
        note: "waiting for the payout to complete",
        awaited: `payout:${payout_id}`,
        isAbout: (content) =>
          isRecord(content) &&
          isRecord(content["payout"]) &&
          content["payout"]["payout_id"] === payout_id,
        readLocally: () => localReadings.checkPayout.executeWithOptions(reading, [asked]),
        read: (bounds) =>
          activities.checkPayout.executeWithOptions({ ...reading, ...bounds }, [asked]),
        poll: ({ awaitPayoutEnd }, bounds, schedule) =>
          awaitPayoutEnd.executeWithOptions(
            { summary: `Await the payout ${payout_id}`, ...bounds },
            [{ ...asked, ...schedule }],
          ),
      },
      waits,
    ).catch((error: unknown) => {
      const fault = failureOfActivity(error);
      throw fault?.type === "InvalidRequest" ? notReadable(payout_id, sent, fault) : error;
    });
    if (seen.contradiction !== undefined) throw contradicted(payout_id, sent, seen);
    const state = stateOf(run);
    if (seen.outcome === "open") state.leavesOpen();
    const ended = payoutOf(seen);
    state.ended(
      step,
      ended.outcome === "open"
        ? `payout ${payout_id} was open still at the end of the wait`
        : `payout ${payout_id} complete at ${ended.complete_time ?? "a time that the service does not say"}`,
    );
    return ended;
  });

/**
 * What the service reports is not what was sent: nobody knows what was paid, and to whom. The payout stands,
 * and is not sent again.
 */
const contradicted = (
  payout_id: string,
  sent: SentPayout | undefined,
  { contradiction = "", payout }: SeenPayout,
) => {
  const { amount = "", beneficiary_id = "", currency = "", payout_status = "" } = payout;
  return runFailure(
    "PayoutContradicted",
    `The service reports ${contradiction}: the payout ${payout_id} was created, and what it has paid, only the service can say. Do not pay it again before that is known.`,
    { payout_id, payout_status, sent, reported: { amount, currency, beneficiary_id } },
  );
};

/** The service gave the payout an id that stands in no path of a request: nothing can be asked about it. */
const notReadable = (payout_id: string, sent: SentPayout | undefined, { message }: Error) =>
  runFailure(
    "PayoutNotReadable",
    `The payout ${payout_id} was created, and the service gave it an id by which it cannot be read: how it ends is not known here (${message}) See at the service what became of it, by its unique_request_id. Do not pay it again before that is known.`,
    { payout_id, sent },
  );

/** The payout, unless it has failed; an open one has no time of completion that counts. */
const payoutOf = ({ outcome, payout }: SeenPayout): AwaitedPayout => {
  if (outcome === "completed") return { ...payout, outcome };
  if (outcome === "open") {
    const { complete_time: _, ...open } = payout;
    return { ...open, outcome };
  }
  const { payout_id, payout_status = "failed" } = payout;
  throw runFailure(
    "PayoutFailed",
    `The payout ${payout_id} ended as ${payout_status}, as the service says: a retry of the run finds it so again. See at the service whether its amount was returned to the balance; to pay again, start a payout under another id.`,
    { payout_id, payout_status },
  );
};
