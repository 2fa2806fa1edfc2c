import { defineUpdate } from "@temporalio/workflow";
import { isRecord } from "../is-record.ts";

/** What a person can decide; which of these fit is part of the question. */
export type Action = "found" | "resend" | "amend" | "abandon";

/** A run that cannot go on without a person: why, and what can be done. */
export interface Attention {
  /**
   * Names this question and no other, of this run or of one that it was reset from: a decision must
   * give it, and is for nothing else.
   */
  readonly question: string;
  readonly step: string;
  /** What happened, for a person. */
  readonly reason: string;
  /** What was sent; account numbers and the like are not in it. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** What a resend sends, where that is another request than what was sent; mostly left out. */
  readonly toSend?: Readonly<Record<string, unknown>>;
  /** What the look-up found that may be it. */
  readonly candidates: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** What can be decided. */
  readonly actions: ReadonlyArray<Action>;
  /** The ids that `found` must give. */
  readonly idsWanted: ReadonlyArray<string>;
  /** When the run began to wait, ISO 8601. */
  readonly since: string;
}

/** What a person decided. */
export type Decision =
  | { readonly found: Readonly<Record<string, string>> }
  | { readonly resend: true }
  | { readonly amend: Readonly<Record<string, unknown>> }
  | { readonly abandon: string };

/**
 * A person's decision on the question that the person has read; `by` is the name under which it is
 * kept.
 */
export type Resolution = { readonly by: string; readonly question: string } & Decision;

/**
 * Answers a run that needs attention: it was carried out and these are its ids (`found`); it was
 * not and is to be sent again (`resend`); the request is to be changed, then sent (`amend`); or the
 * run is to end (`abandon`, with why).
 */
export const resolveUpdate = defineUpdate<void, [Resolution]>("resolve");

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const ACTIONS: ReadonlyArray<Action> = ["found", "resend", "amend", "abandon"];

/** Why a resolution cannot be taken, or undefined when it can. An update can carry anything. */
export const whyNot = (
  attention: Attention | undefined,
  resolution: unknown,
): string | undefined => {
  if (attention === undefined) return "This run does not wait for a person.";
  if (!isRecord(resolution) || !isText(resolution["by"])) {
    return "Give the name of who decides (by).";
  }
  const { abandon, amend, found, question, resend } = resolution;
  if (!isText(question)) {
    return `Say which question it answers (question): read what is asked now (${attention.question}).`;
  }
  if (question !== attention.question) {
    return `This answer is to an earlier question (${String(question)}): read what is asked now (${attention.question}).`;
  }
  const [action, ...more] = ACTIONS.filter((name) => name in resolution);
  if (action === undefined || more.length > 0 || !attention.actions.includes(action)) {
    return `Give exactly one of ${attention.actions.join(", ")}.`;
  }
  if (action === "abandon" && !isText(abandon)) return "abandon must say why.";
  if (action === "resend" && resend !== true) return "resend must be true.";
  if (action === "amend" && (!isRecord(amend) || Object.keys(amend).length === 0)) {
    return "amend must be an object of the fields to change.";
  }
  if (action === "found") {
    const ids = isRecord(found) ? found : {};
    const missing = attention.idsWanted.filter((id) => !isText(ids[id]));
    if (missing.length > 0) return `found must give ${missing.join(", ")}.`;
  }
  return undefined;
};
