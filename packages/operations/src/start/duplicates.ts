import type { SimilarPayment, WriteName, WriteState } from "@durable-payments/ledger";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { Operations } from "../connection/operations.ts";
import { refused } from "../errors.ts";
import { type PaymentOf, paymentOf } from "./payment-of.ts";

/** A payment that is to be started. */
export interface Planned {
  readonly workflowId: string;
  readonly input: unknown;
}

/** A `beneficiary_id` that this ledger has created is known by the mark of its account, too. */
const markOf = async (
  { ledger }: Pick<Operations, "ledger">,
  id: string,
  owner: WriteName | undefined,
): Promise<ReadonlyArray<string>> => {
  if (owner === undefined) return [id];
  const rows = await ledger.rowsOf(owner.workflowId);
  const mark = rows.find(({ step }) => step === owner.step)?.request.payee ?? null;
  return mark === null ? [id] : [id, mark];
};

const payeesOf = async (
  operations: Pick<Operations, "ledger">,
  account: string,
  payments: ReadonlyArray<PaymentOf | undefined>,
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const payees = [...new Set(payments.flatMap((payment) => payment?.payee ?? []))];
  const owners = await operations.ledger.owners(account, "createBeneficiary", payees);
  return new Map(
    await Promise.all(
      payees.map(async (id) => [id, await markOf(operations, id, owners.get(id))] as const),
    ),
  );
};

/**
 * Finds what is likely the same payment under another id: the same payee, amount and currency, with the same reference,
 * or within a day where one of them has none.
 *
 * @param account hash of the account that pays.
 * @returns for each payment the earlier ones, in the same order.
 */
export const findDuplicates = async (
  operations: Pick<Operations, "ledger">,
  account: string,
  planned: ReadonlyArray<Planned>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const payments = planned.map(({ input }) => paymentOf(input));
  const payees = await payeesOf(operations, account, payments);
  const asked = planned.flatMap(({ workflowId }, at) => {
    const payment = payments[at];
    if (!payment?.payee) return [];
    const { amount, currency, payee, reference } = payment;
    return [{ at, workflowId, amount, currency, reference, payees: payees.get(payee) ?? [payee] }];
  });
  const found = await operations.ledger.similarPayments(
    account,
    asked.map(({ at: _, ...payment }) => payment),
  );
  const similar: Array<ReadonlyArray<SimilarPayment>> = planned.map(() => []);
  for (const [index, { at }] of asked.entries()) similar[at] = found[index] ?? [];
  return similar;
};

/** How long a run may have been noted before Temporal has it. */
const START_WITHIN_MS = 60_000;

/** Whether a run was noted and then not started, as where Temporal refused it: it is no earlier payment. */
const isNeverStarted = async (
  { client, ledger }: Pick<Operations, "client" | "ledger">,
  { at, state, workflowId }: SimilarPayment,
): Promise<boolean> => {
  if (state !== null || at > Date.now() - START_WITHIN_MS) return false;
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  // A row of a batch has no run until it is approved, and its turn comes.
  if (run === undefined || run.batch !== null) return false;
  try {
    await client.workflow.getHandle(workflowId).describe();
    return false;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
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

/** Leaves out what was never started. */
export const startedOnly = async (
  operations: Pick<Operations, "client" | "ledger">,
  found: ReadonlyArray<SimilarPayment>,
): Promise<ReadonlyArray<SimilarPayment>> => {
  const similar: Array<SimilarPayment> = [];
  for (const one of found) if (!(await isNeverStarted(operations, one))) similar.push(one);
  return similar;
};

/**
 * Refuses a payment that is likely a duplicate.
 *
 * @throws Refused that names the earlier payments.
 */
export const checkDuplicate = async (
  operations: Pick<Operations, "client" | "ledger">,
  account: string,
  planned: Planned & {
    /** Whether the user has chosen the id: to pay it all the same takes that id again. */
    readonly isOwnId?: boolean;
  },
): Promise<void> => {
  const [found = []] = await findDuplicates(operations, account, [planned]);
  const similar = await startedOnly(operations, found);
  if (similar.length === 0) return;
  throw refused(
    `${planned.workflowId} is likely a duplicate: the same payee, amount and currency as ${similar.slice(0, 3).map(similarText).join("; ")}. Nothing was started.`,
    {
      operation: "payNotDuplicate",
      ...(planned.isOwnId === true && { workflowId: planned.workflowId }),
    },
  );
};
