/**
 * The view of a single write for its approver, and the hash that says what was seen.
 *
 * An approver must have read whom the payment pays, why it asks, who had a part in it, and the changes since an earlier
 * approval. All of that may change between reading and approving. So the hash covers it, and an approval that names the hash
 * approves nothing else.
 */
import {
  type Decision,
  HAS_PART,
  isAbout,
  whyNobody,
  type WriteRow,
} from "@durable-payments/ledger";
import { hashOf } from "@durable-payments/protocol/account";
import type { NextAction } from "../errors.ts";
import { decisionText } from "./decision-text.ts";

const HASH_DIGITS = 32;

/** Returns the decisions about what waits for approval: what nobody can approve can only be cancelled. */
export const decisionsOn = (workflowId: string, hash: string | null): ReadonlyArray<NextAction> =>
  hash === null
    ? [{ action: "cancel", workflowId }]
    : [
        { action: "approve", workflowId, hash },
        { action: "reject", workflowId },
      ];

/** Returns what has changed since the last approval; empty if there was none. */
const changedSince = (
  { generation, question, request, step, workflowId }: WriteRow,
  about: ReadonlyArray<Decision>,
): ReadonlyArray<string> => {
  const last = about.findLast(
    (one) => one.kind === "approve" && one.workflowId === workflowId && one.step === step,
  );
  if (last === undefined) return [];
  const { account, terms } = last.value;
  const changes = [
    ...(terms === request.terms ? [] : ["the request"]),
    ...(account === question?.account ? [] : ["the payee's account"]),
    ...(last.value["generation"] === generation ? [] : ["it is a resend"]),
  ];
  const since = about
    .filter(({ sequence }) => sequence > last.sequence)
    .flatMap(({ by, kind }) => (HAS_PART[kind] === undefined ? [] : `${by} ${HAS_PART[kind]}`));
  return [
    `${last.by} approved it before. Changed since then: ${changes.join(", ") || since.join(", ") || "the limits"}.`,
  ];
};

/**
 * Returns what an approver reads of a write that waits for approval.
 *
 * @param decisions those on the ids of its name, its owner and its root.
 * @returns sentences (reference, starts with their options, changes since an earlier approval), and the hash of all facts:
 *   null, with a reason and no choices, if nobody can approve it.
 */
export const approvableOf = (row: WriteRow, decisions: ReadonlyArray<Decision>) => {
  const { account, generation, question, request, step, workflowId } = row;
  const about = decisions
    .filter((one) => isAbout(row, one))
    .toSorted((one, other) => one.sequence - other.sequence);
  const details = [
    ...(request.reference === null ? [] : [`Reference: ${request.reference}.`]),
    ...about
      .filter(({ kind }) => kind in HAS_PART)
      .map((one) => `${one.workflowId}: ${one.by} ${decisionText(one)}`),
    ...changedSince(row, about),
  ];
  const { amount, currency, terms } = request;
  const asked = [question?.account ?? null, question?.reason ?? null];
  const seen = [account, workflowId, step, generation, terms, amount, currency, ...asked, details];
  const hash = hashOf(seen).slice(0, HASH_DIGITS);
  const nobody = whyNobody(question?.root, row, about);
  return nobody === undefined
    ? { hash, details }
    : { hash: null, details, reason: `${question?.reason} ${nobody}`, choices: {} };
};
