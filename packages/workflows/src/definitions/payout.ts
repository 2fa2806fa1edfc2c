import type { Input, Payout } from "@durable-payments/api-core";
import type { Duration } from "../run/duration.ts";
import type { PollInterval } from "../run/pace.ts";
import { beginRun } from "../run/run.ts";
import { type ApprovalOptions, awaitApproval } from "../steps/approval.ts";
import { createBeneficiary } from "../steps/beneficiary.ts";
import { checkRequests } from "../steps/check-requests.ts";
import { awaitPayout, createPayout } from "../steps/payout.ts";

/** A payout to an existing beneficiary, or to one that is created first. */
export type PayoutInput = (
  | { readonly beneficiary: Input<"createBeneficiary"> }
  | { readonly beneficiary_id: string }
) & {
  readonly payout: Omit<Input<"createPayout">, "beneficiary_id" | "unique_request_id">;
  readonly options?: PayoutOptions;
};

/** What a payout run may be told. */
export interface PayoutOptions {
  /** `ask`: when the service refuses a request, a person may amend it, and the run goes on. */
  readonly onRefusal?: "fail" | "ask";
  /** What to do about a beneficiary whose answer was lost, default `recreate`. */
  readonly onLostBeneficiary?: "recreate" | "ask";
  /** Lets a second person approve amounts above a limit, before anything is created. */
  readonly approval?: ApprovalOptions;
  /** Longest time to wait for completion, default 30 days. */
  readonly completeWithin?: Duration;
  /** Time between two looks of the run's own while waiting, default an hour to six. */
  readonly pollInterval?: PollInterval;
}

/**
 * The payout as it was last seen; what the service does not say is null. `complete_time` is null
 * while it is not complete.
 */
export interface PayoutResult {
  readonly payout_id: string;
  readonly short_reference: string | null;
  readonly payout_status: string | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly complete_time: string | null;
  /** `open` where it has not ended within `completeWithin`. */
  readonly outcome: "completed" | "open";
  /** What should be known beside: that a beneficiary may stand twice, say. Mostly left out. */
  readonly notes?: ReadonlyArray<string>;
}

const shownToApprover = (input: PayoutInput) => ({
  amount: input.payout.amount,
  currency: input.payout.currency,
  payout_reference: input.payout.payout_reference ?? "",
  to: "beneficiary" in input ? input.beneficiary.nickname : input.beneficiary_id,
});

const planned = (input: PayoutInput) => {
  const payout = { operation: "createPayout", at: "payout" } as const;
  return "beneficiary" in input
    ? [
        { operation: "createBeneficiary", input: input.beneficiary, at: "beneficiary" } as const,
        { ...payout, input: input.payout, later: ["beneficiary_id"] },
      ]
    : [{ ...payout, input: { ...input.payout, beneficiary_id: input.beneficiary_id } }];
};

/** Takes or creates the beneficiary, creates the payout, and awaits its completion. */
export function payout(input: PayoutInput): Promise<PayoutResult> {
  const { approval, onLostBeneficiary, onRefusal } = input.options ?? {};
  const run = beginRun({ ...(onRefusal && { onRefusal }) });
  let approved: string | undefined;
  /** Goes on with the input once it is approved where it has to be: anew where it was amended. */
  const withApproved = <A>(goOn: (now: PayoutInput) => A | Promise<A>): A | Promise<A> =>
    run.withInput(input, (now) => {
      if (approval === undefined) return goOn(now);
      const { options: _, ...payload } = now;
      const text = JSON.stringify(payload);
      if (text === approved) return goOn(now);
      const toApprove = { amount: now.payout.amount, payload, shown: shownToApprover(now) };
      return awaitApproval(run, approval, toApprove).then(() => {
        approved = text;
        return withApproved(goOn);
      });
    });
  const payNew = async (beneficiary: Input<"createBeneficiary">): Promise<Payout> => {
    const beneficiary_id = await createBeneficiary(run, beneficiary, {
      ...(onLostBeneficiary && { whenLost: onLostBeneficiary }),
    });
    return withApproved(({ payout }) => createPayout(run, { ...payout, beneficiary_id }));
  };
  return run.conduct(async () => {
    await run.withInput(input, (now) => checkRequests(run, planned(now)));
    const created = await withApproved((now) =>
      "beneficiary" in now
        ? payNew(now.beneficiary)
        : createPayout(run, { ...now.payout, beneficiary_id: now.beneficiary_id }),
    );
    const ended = await run.withInput(input, ({ options: { completeWithin, pollInterval } = {} }) =>
      awaitPayout(run, created, {
        ...(completeWithin !== undefined && { within: completeWithin }),
        ...(pollInterval && { pollInterval }),
      }),
    );
    return {
      payout_id: ended.payout_id,
      short_reference: ended.short_reference ?? created.short_reference ?? null,
      payout_status: ended.payout_status ?? null,
      amount: ended.amount ?? null,
      currency: ended.currency ?? null,
      complete_time: ended.complete_time ?? null,
      outcome: ended.outcome,
      ...(run.progress.notes.length > 0 && { notes: run.progress.notes }),
    };
  });
}
