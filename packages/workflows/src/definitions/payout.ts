import { requestsOfPayout } from "@durable-payments/activities/planned-requests";
import type { Payout } from "@durable-payments/api-core";
import type { ApprovalOptions, Payee, PayoutInput, PayoutResult } from "@durable-payments/protocol";
import { patched } from "@temporalio/workflow";
import { runFailure } from "../run/failures.ts";
import {
  duration,
  nullable,
  object,
  optional,
  optionsOf,
  refuseUnreadable,
  text,
} from "../run/input-faults.ts";
import { accountOf, beginRun, type Run, stateOf } from "../run/run.ts";
import { awaitApproval } from "../steps/approval.ts";
import { createBeneficiary } from "../steps/beneficiary.ts";
import { checkRequests } from "../steps/check-requests.ts";
import { type AwaitedPayout, awaitPayout, createPayout } from "../steps/payout.ts";

const shownToApprover = (input: PayoutInput) => ({
  ...accountOf(input),
  amount: input.payout.amount,
  currency: input.payout.currency,
  payout_reference: input.payout.payout_reference ?? "",
  payout_reason: input.payout.payout_reason,
  payment_date: input.payout.payment_date,
  to: "beneficiary" in input ? input.beneficiary.nickname : input.beneficiary_id,
});

const readable = object({
  payout: object({ amount: text, currency: text }),
  beneficiary: optional(object()),
  beneficiary_id: optional(text),
  options: nullable(
    object({
      approval: nullable(object({ above: text })),
      completeWithin: optional(duration),
      pollInterval: nullable(object({ min: optional(duration), max: optional(duration) })),
    }),
  ),
});

/** Whether an input, which nobody may have checked, names two payees: whom it pays would be a guess. */
const hasTwoPayees = (input: PayoutInput): boolean =>
  "beneficiary" in input && "beneficiary_id" in input;

const payeeOf = (input: PayoutInput): Payee =>
  "beneficiary" in input
    ? { beneficiary: input.beneficiary }
    : { beneficiary_id: input.beneficiary_id };

/** The input, once a second person has approved it where that is needed: anew where it was amended. */
const approvedInput = async (
  run: Run<PayoutInput>,
  approval: ApprovalOptions | undefined,
): Promise<PayoutInput> => {
  const input = await run.input();
  if (approval === undefined && !stateOf(run).approvals.isWanted) return input;
  const { options: how, ...payload } = input;
  const { amount, currency } = input.payout;
  const asked = await awaitApproval(run, approval ?? {}, {
    amount,
    currency: currency.toUpperCase(),
    payload,
    how,
    shown: shownToApprover(input),
    payee: payeeOf(input),
    requests: requestsOfPayout(input),
  });
  return asked ? await approvedInput(run, approval) : input;
};

const resultOf = (run: Run, { short_reference }: Payout, payout: AwaitedPayout): PayoutResult => ({
  payout_id: payout.payout_id,
  short_reference: payout.short_reference ?? short_reference ?? null,
  payout_status: payout.payout_status ?? null,
  amount: payout.amount ?? null,
  currency: payout.currency ?? null,
  complete_time: payout.complete_time ?? null,
  outcome: payout.outcome,
  ...(run.progress.notes.length > 0 && { notes: run.progress.notes }),
});

/** Take or create the beneficiary, create the payout, and await its completion. */
export function payout(input: PayoutInput): Promise<PayoutResult> {
  const { approval, onLostBeneficiary, onRefusal } = optionsOf(input);
  const run = beginRun({ input, ...accountOf(input), ...(onRefusal && { onRefusal }) });
  return run.execute(async () => {
    const given = await run.input();
    await refuseUnreadable(run, given, readable);
    if (hasTwoPayees(given) && patched("one-payee")) {
      throw runFailure(
        "InvalidRequest",
        "The input has both beneficiary and beneficiary_id: exactly one of the two must be given. Nothing was sent.",
      );
    }
    const planned = requestsOfPayout(given);
    // A request that is sent at once is checked by the activity that sends it.
    if (planned.length > 1 || approval !== undefined) await checkRequests(run, planned);

    let approved = await approvedInput(run, approval);
    let beneficiary_id: string;
    if ("beneficiary" in approved) {
      beneficiary_id = await createBeneficiary(run, approved.beneficiary, {
        ...(onLostBeneficiary && { whenLost: onLostBeneficiary }),
      });
      approved = await approvedInput(run, approval);
    } else {
      ({ beneficiary_id } = approved);
    }

    const created = await createPayout(run, { ...approved.payout, beneficiary_id });

    const { completeWithin, pollInterval } = (await run.input()).options ?? {};
    const ended = await awaitPayout(run, created, {
      ...(completeWithin !== undefined && { within: completeWithin }),
      ...(pollInterval && { pollInterval }),
    });
    return resultOf(run, created, ended);
  });
}
