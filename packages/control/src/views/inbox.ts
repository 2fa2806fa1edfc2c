import { lookUp } from "@durable-payments/client/values";
import {
  answerTo,
  type Attention,
  type AttentionKind,
  type Batch,
  endAmong,
  type Ledger,
  limitsId,
  PURPOSES,
  type WriteRow,
} from "@durable-payments/ledger";
import { atOnce, WORKFLOW } from "@durable-payments/protocol";
import { writesOf } from "../actions/decide/answer.ts";
import { keptOf } from "../actions/batch/batch.ts";
import { readLimits } from "../actions/limits.ts";
import { limitsText } from "../rules/limits-text.ts";
import { approvableOf, decisionsOn } from "../rules/approval.ts";
import { readListing } from "./batch.ts";
import {
  approvalConsequences,
  type Choice,
  CHOICES,
  consequencesOf,
} from "../rules/consequences.ts";
import type { FileListing } from "../rules/listing.ts";
import { readNames } from "../facts/payees.ts";
import type { NextAction } from "../errors.ts";
import { type Money, type PaymentView, paymentFields, sumMoney } from "../rules/run-view.ts";
import { isAsking, isUnapproved } from "../rules/standing.ts";

/** An item that waits for a person. */
export interface InboxItem extends PaymentView {
  readonly kind: "question" | "approval" | "batch" | "limits" | AttentionKind;
  readonly workflowId: string;
  readonly step: string | null;
  readonly operation: string | null;
  /** Id of the question; null if it cannot be answered yet. */
  readonly question: string | null;
  readonly reason: string;
  readonly since: number;
  /** Possible matches in the service's list. */
  readonly candidates: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** The payee in words; absent or null if nobody has described it. */
  readonly payeeName?: string | null;
  /** The effect of each answer on the money. */
  readonly choices: Readonly<Partial<Record<Choice | "approve" | "reject", string>>>;
  readonly startedBy: string | null;
  /** Names exactly what an approver reads here: an approval in a script gives it. Null if nothing is to be approved. */
  readonly hash: string | null;
  /** Further facts for an approver: who started it and how, and what has changed since an earlier approval. */
  readonly details: ReadonlyArray<string>;
  /** Things of one kind that make no progress: their number, and their sums. */
  readonly things?: { readonly count: number; readonly money: Money };
  /** The decisions, or what helps if no decision does: the most useful first. */
  readonly next: ReadonlyArray<NextAction>;
  /** The rows of a file that waits for its approval, and its likely duplicates. */
  readonly file?: FileListing & {
    /** The workflow type of its rows, or `repair`. */
    readonly type: string;
    readonly warnings: ReadonlyArray<string>;
    readonly notDuplicate: string | null;
    /** Why a person repairs runs. */
    readonly reason: string | null;
  };
}

const answersTo = (
  workflowId: string,
  question: string,
  possible: ReturnType<typeof consequencesOf>,
): ReadonlyArray<NextAction> =>
  CHOICES.flatMap((choice) =>
    choice in possible ? [{ action: "answer", workflowId, question, choice }] : [],
  );

/** Makes an item of the inbox of each write that waits for a person. A question that is answered waits for its run. */
export const itemsOf = async (
  ledger: Ledger,
  rows: ReadonlyArray<WriteRow>,
): Promise<ReadonlyArray<InboxItem>> => {
  const waiting = rows.filter((row) => isAsking(row) || isUnapproved(row));
  const workflowIds = [...new Set(waiting.map(({ workflowId }) => workflowId))];
  const runs = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
  const runOf = new Map(runs.map((run) => [run.workflowId, run]));
  const nameOf = await readNames(
    ledger,
    waiting.map(({ request }) => request.payee),
    rows,
    runs,
  );
  const items = await atOnce(waiting, async (row) => {
    const { operation, ownerId, question, request, rootId, step, workflowId } = row;
    const isApproval = question?.kind === "approval";
    const ids = new Set([workflowId, ownerId, rootId]);
    const read = await Promise.all([...ids].map((id) => ledger.decisionsOf(id)));
    const decisions = read.flat().toSorted((one, other) => one.sequence - other.sequence);
    if (!isApproval && answerTo(row, decisions) !== undefined) return [];
    const answers = consequencesOf(row, endAmong(decisions) !== undefined);
    const approvable = isApproval ? approvableOf(row, decisions) : { hash: null, details: [] };
    const item: InboxItem = {
      kind: isApproval ? "approval" : "question",
      workflowId,
      step,
      operation,
      ...paymentFields(request),
      payeeName: nameOf(request.payee, row.account, runOf.get(workflowId)),
      question: question?.id ?? null,
      reason: question?.reason ?? "",
      since: question?.since ?? row.changedAt,
      candidates: question?.candidates ?? [],
      choices: isApproval ? approvalConsequences(row) : answers,
      startedBy: runOf.get(workflowId)?.startedBy ?? null,
      ...approvable,
      next: isApproval
        ? decisionsOn(workflowId, approvable.hash)
        : answersTo(workflowId, question?.id ?? "", answers),
    };
    return [item];
  });
  return items.flat();
};

/** Fields that only the item of a write has. */
const NO_WRITE = {
  ...paymentFields(undefined),
  step: null,
  operation: null,
  question: null,
  candidates: [],
  details: [],
} as const;

/** Consequences of a decision about a batch, by the type of its rows. */
const BATCH_CHOICES: Readonly<Record<string, InboxItem["choices"]>> = {
  [WORKFLOW.onboardCardholder]: {
    approve: "APPROVE: issues exactly these cards, to these people.",
    reject: "REJECT: issues none of the cards in this file.",
  },
  repair: {
    approve:
      "APPROVE: lets the repair begin: it retries exactly these runs, with these inputs. It approves none of their payments.",
    reject: "REJECT: retries none of these runs.",
  },
};

const batchItem = async (ledger: Ledger, batch: Batch): Promise<InboxItem> => {
  const listing = await readListing(ledger, batch);
  const [sum, ...others] = listing.sums;
  return {
    ...NO_WRITE,
    ...(others.length === 0 && sum),
    kind: "batch",
    workflowId: batch.id,
    reference: batch.file,
    reason: `A second person has to approve ${batch.rows === 1 ? "the row" : `the ${batch.rows} rows`} of ${batch.file}.`,
    since: batch.createdAt,
    choices: lookUp(BATCH_CHOICES, batch.type) ?? {
      approve: "APPROVE: pays exactly these rows, to these accounts.",
      reject: "REJECT: pays none of the rows in this file.",
    },
    startedBy: batch.createdBy,
    hash: listing.hash,
    next: decisionsOn(batch.id, listing.hash),
    file: { ...listing, ...keptOf(batch), type: batch.type },
  };
};

const limitItems = async (ledger: Ledger): Promise<ReadonlyArray<InboxItem>> =>
  (await readLimits({ ledger })).flatMap((limits) => {
    const { account, pending } = limits;
    if (pending === undefined) return [];
    const [workflowId, hash] = [limitsId(account), String(pending.sequence)];
    return {
      ...NO_WRITE,
      kind: "limits",
      workflowId,
      reason: `${pending.by} asks for looser limits: ${pending.reason ?? "no reason"}`,
      since: pending.at,
      choices: { approve: "APPROVE: from then on, these limits apply." },
      startedBy: pending.by,
      hash,
      next: [{ action: "approve", workflowId, hash }],
      details: [`Now: ${limitsText(limits)}.`, `Then: ${limitsText(pending)}.`],
    };
  });

/** Why a person is needed, and the command that helps. */
const ATTENTION: Readonly<
  Record<AttentionKind, (of: Attention) => readonly [reason: string, next: NextAction]>
> = {
  word: ({ account, of }) => [
    `The service says "${of}", and nobody has said what that means: completed, failed, returned or open?`,
    { action: "word", workflowId: of, ...(account !== null && { account }) },
  ],
  late: ({ account, of }) =>
    of === account
      ? [
          "Payouts are not completed, although their payment date has passed: ask the service.",
          { action: "list", isLate: true },
        ]
      : [
          `Payouts are not completed, and the service says "${of}", which no setting lists: ask the service what that means.`,
          { action: "word", workflowId: of, ...(account !== null && { account }) },
        ],
  unreadable: ({ message, workflowIds: [workflowId = ""] }) => [
    `The service does not show them${message === null ? "" : `: ${message}`}.`,
    { action: "show", workflowId },
  ],
  missing: ({ of }) => [
    `Temporal has lost these runs of ${of}, and they are not finished: start them again under their ids.`,
    { action: "recover" },
  ],
  stalled: ({ message, of }) => [
    `None of its rows is being started${message === null ? "." : `: ${message}`}`,
    { action: "show", workflowId: of },
  ],
  unserved: () => [
    "No worker serves the account: its payments make no progress.",
    { action: "startWorker" },
  ],
};

const attentionItem = (found: Attention): InboxItem => {
  const { count, kind, money, of, since, workflowIds } = found;
  const [reason, next] = ATTENTION[kind](found);
  const [sum, ...others] = money;
  return {
    ...NO_WRITE,
    ...(others.length === 0 && sum),
    kind,
    // Card limits are not added to payouts.
    operation: kind === "missing" ? (lookUp(PURPOSES, of) ?? null) : null,
    workflowId: workflowIds[0] ?? of,
    reason,
    since,
    choices: {},
    startedBy: null,
    hash: null,
    things: { count, money },
    next: [next],
  };
};

/** Reads what a person can decide about an id: of a run, a batch, or limits. */
export const approvalsOf = async (
  ledger: Ledger,
  id: string,
): Promise<ReadonlyArray<InboxItem>> => {
  const batch = await ledger.batch(id);
  if (batch !== undefined)
    return batch.state === "needsApproval" ? [await batchItem(ledger, batch)] : [];
  if (id.startsWith(limitsId("")))
    return (await limitItems(ledger)).filter(({ workflowId }) => workflowId === id);
  return itemsOf(ledger, await writesOf(ledger, id));
};

/** Decisions of a person come first: money moves, or does not, only then. */
const FIRST: ReadonlySet<InboxItem["kind"]> = new Set(["question", "approval", "batch", "word"]);

/** Returns the money about which a person decides. */
export const moneyOfItem = ({ amount, currency, file, things }: InboxItem): Money =>
  file?.sums ?? things?.money ?? sumMoney([{ amount, currency }]);

/** Names the currencies of an item; those without money are the last. */
const currenciesOf = (money: Money): string => money.map(({ currency }) => currency).join() || "~";

/**
 * The order of the inbox: decisions about money first; then by currency, because sums of several are not compared; then the
 * larger sum; then the older one.
 */
const byMoneyAndAge = (one: InboxItem, other: InboxItem): number => {
  const [money, others] = [moneyOfItem(one), moneyOfItem(other)];
  const [currencies, otherCurrencies] = [currenciesOf(money), currenciesOf(others)];
  return (
    Number(FIRST.has(other.kind)) - Number(FIRST.has(one.kind)) ||
    Number(currencies > otherCurrencies) - Number(currencies < otherCurrencies) ||
    Number(others[0]?.amount ?? 0) - Number(money[0]?.amount ?? 0) ||
    one.since - other.since
  );
};

/** Items that wait for a person, by `byMoneyAndAge`. */
export interface Inbox {
  readonly items: ReadonlyArray<InboxItem>;
}

/**
 * Reads the items that wait for a person: questions, approvals, and everything else that only a person can continue.
 * It needs only the ledger.
 *
 * @returns the items: decisions about money first, then by currency, sum and age.
 */
export const readInbox = async (ledger: Ledger, lateAfterMs: number): Promise<Inbox> => {
  const [own, batches, limits, standing] = await Promise.all([
    ledger.rows({ needsPerson: true }).then((rows) => itemsOf(ledger, rows)),
    ledger
      .batches({ states: ["needsApproval"] })
      .then((found) => atOnce(found, (batch) => batchItem(ledger, batch))),
    limitItems(ledger),
    ledger.attention({ lateAfterMs }).then((found) => found.map(attentionItem)),
  ]);
  return { items: [...own, ...batches, ...limits, ...standing].toSorted(byMoneyAndAge) };
};
