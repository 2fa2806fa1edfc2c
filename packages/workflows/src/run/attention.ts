import type { HumanTask, HumanTaskAction } from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const ACTIONS: ReadonlyArray<HumanTaskAction> = ["found", "resend", "amend", "abandon"];

/** Why a resolution cannot be taken, or undefined when it can. An update can carry anything. */
export const whyNot = (
  attention: HumanTask | undefined,
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
