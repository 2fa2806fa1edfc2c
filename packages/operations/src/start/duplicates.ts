import type { SimilarPayment, WriteState } from "@durable-payments/ledger";
import type { Operations } from "../connection/operations.ts";
import { findRun } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { atOnce } from "../show/at-once.ts";
import { paymentOf } from "./payment-of.ts";

type Looking = Pick<Operations, "client" | "ledger">;

/** A payment that is to be started. */
interface Planned {
  readonly workflowId: string;
  readonly input: unknown;
}

/** The payees of payments, each with the mark of its account where this ledger has created it. */
const payeesOf = async (
  { ledger }: Looking,
  account: string,
  payees: ReadonlyArray<string>,
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const owners = await ledger.owners(account, "createBeneficiary", payees);
  const marks = await atOnce([...owners], async ([id, owner]) => {
    const rows = await ledger.rowsOf(owner.workflowId);
    const mark = rows.find(({ step }) => step === owner.step)?.request.payee;
    return [id, mark ? [id, mark] : [id]] as const;
  });
  return new Map(marks);
};

/** How long a run may have been noted before Temporal has it. */
const START_WITHIN_MS = 60_000;

/** Whether a run was noted and then not started, as where Temporal refused it: it is no earlier payment. */
const isNeverStarted = async (
  { client, ledger }: Looking,
  { at, state, workflowId }: SimilarPayment,
): Promise<boolean> => {
  if (state !== null || at > Date.now() - START_WITHIN_MS) return false;
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  // A row of a batch has no run until it is approved, and its turn comes.
  if (run === undefined || run.batch !== null) return false;
  return (await findRun(client, workflowId)) === undefined;
};

/**
 * Finds what is likely the same payment under another id: the same payee, amount and currency, with the same reference,
 * or within a day where one of them has none. What was never started is left out.
 *
 * @param account hash of the account that pays.
 * @returns for each payment the earlier ones, in the same order.
 */
export const findDuplicates = async (
  looking: Looking,
  account: string,
  planned: ReadonlyArray<Planned>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const asked = planned.flatMap(({ input, workflowId }, at) => {
    const payment = paymentOf(input);
    return payment?.payee ? [{ ...payment, at, payee: payment.payee, workflowId }] : [];
  });
  const payees = await payeesOf(looking, account, [...new Set(asked.map(({ payee }) => payee))]);
  const found = await looking.ledger.similarPayments(
    account,
    asked.map(({ amount, currency, payee, reference, workflowId }) => ({
      workflowId,
      amount,
      currency,
      reference,
      payees: payees.get(payee) ?? [payee],
    })),
  );
  const similar: Array<Array<SimilarPayment>> = planned.map(() => []);
  for (const [index, { at }] of asked.entries()) {
    for (const one of found[index] ?? [])
      if (!(await isNeverStarted(looking, one))) similar[at]?.push(one);
  }
  return similar;
};

const STATES: Readonly<Record<WriteState, string>> = {
  ready: "not sent yet",
  sending: "outcome unknown",
  unknown: "outcome unknown",
  asking: "outcome unknown",
  done: "done",
  refused: "refused",
  ended: "ended by a person",
  undone: "undone",
};

/** Words an earlier payment: `invoice-17 (Invoice 17) of 2026-11-23 12:00 UTC, done`. */
export const similarText = ({ at, reference, state, workflowId }: SimilarPayment): string => {
  const when = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `${workflowId}${reference === null ? "" : ` (${reference})`} of ${when}, ${STATES[state ?? "ready"]}`;
};

/** Refuses a payment that is likely a duplicate, and names the earlier ones. */
export const checkDuplicate = async (
  looking: Looking,
  account: string,
  planned: Planned & {
    /** Whether the user has chosen the id: to pay it all the same takes that id again. */
    readonly isOwnId?: boolean;
  },
): Promise<void> => {
  const [similar = []] = await findDuplicates(looking, account, [planned]);
  if (similar.length === 0) return;
  throw refused(
    `${planned.workflowId} is likely a duplicate: the same payee, amount and currency as ${similar.slice(0, 3).map(similarText).join("; ")}. Nothing was started.`,
    {
      operation: "payNotDuplicate",
      ...(planned.isOwnId === true && { workflowId: planned.workflowId }),
    },
  );
};
