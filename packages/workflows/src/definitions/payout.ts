import type { Input } from "@durable-payments/api-core";
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
  /** Time between two looks while waiting. */
  readonly pollInterval?: PollInterval;
}

/** The payout as it was last seen; `complete_time` is null while it is not complete. */
export interface PayoutResult {
  readonly payout_id: string;
  readonly short_reference: string | null;
  readonly payout_status: string;
  readonly amount: string;
  readonly currency: string;
  readonly complete_time: string | null;
  /** What should be known beside: that a beneficiary may stand twice, say. Mostly left out. */
  readonly notes?: ReadonlyArray<string>;
}

const shownToApprover = (input: PayoutInput) => ({
  amount: input.payout.amount,
  currency: input.payout.currency,
  payout_reference: input.payout.payout_reference ?? "",
  to: "beneficiary" in input ? input.beneficiary.nickname : input.beneficiary_id,
});

/** Takes or creates the beneficiary, creates the payout, and awaits its completion. */
export async function payout(input: PayoutInput): Promise<PayoutResult> {
  const { options = {} } = input;
  const run = beginRun({ ...(options.onRefusal && { onRefusal: options.onRefusal }) });
  return run.conduct(async () => {
    await checkRequests(run, [
      ...("beneficiary" in input
        ? [{ operation: "createBeneficiary", input: input.beneficiary, at: "beneficiary" } as const]
        : []),
      {
        operation: "createPayout",
        input:
          "beneficiary" in input
            ? input.payout
            : { ...input.payout, beneficiary_id: input.beneficiary_id },
        later: "beneficiary" in input ? ["beneficiary_id"] : [],
        at: "payout",
      },
    ]);
    if (options.approval) {
      await awaitApproval(run, options.approval, {
        amount: input.payout.amount,
        payload: input,
        shown: shownToApprover(input),
      });
    }
    const beneficiary_id =
      "beneficiary" in input
        ? await createBeneficiary(run, input.beneficiary, {
            ...(options.onLostBeneficiary && { whenLost: options.onLostBeneficiary }),
          })
        : input.beneficiary_id;
    const created = await createPayout(run, { ...input.payout, beneficiary_id });
    const ended = await awaitPayout(run, created.payout_id, {
      ...(options.completeWithin !== undefined && { within: options.completeWithin }),
      ...(options.pollInterval && { pollInterval: options.pollInterval }),
    });
    return {
      payout_id: ended.payout_id,
      short_reference: ended.short_reference ?? created.short_reference ?? null,
      payout_status: ended.payout_status,
      amount: ended.amount,
      currency: ended.currency,
      complete_time: ended.complete_time ?? null,
      ...(run.progress.notes.length > 0 && { notes: run.progress.notes }),
    };
  });
}
