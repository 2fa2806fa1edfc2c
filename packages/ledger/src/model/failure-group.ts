/**
 * The group of a failure: the same for each failure of one fault. Messages of one fault differ in ids, amounts and addresses,
 * so every word that has a digit or an at sign is left out.
 */
import { hash } from "node:crypto";
import type { RunEnd } from "../store/ledger.ts";

const WORD = /[^\s"'()<>,;]+/g;

/** A part of a word that differs between equal messages: an id, a number, an amount, an address. */
const VARYING = /[\d@]/;

/** Returns a message without ids, numbers and amounts: the same for each failure of one kind. */
export const withoutIds = (message: string): string =>
  message.replaceAll(WORD, (word) => (VARYING.test(word) ? "…" : word)).replace(/\.$/, "");

/** Returns the group of an end; null if the run did not fail. */
export const groupOf = ({
  endReason,
  endStep = null,
  endType,
}: Omit<RunEnd, "runId" | "workflowId">): string | null =>
  endType === null
    ? null
    : hash("sha256", JSON.stringify([endType, endStep, withoutIds(endReason ?? "")])).slice(0, 8);
