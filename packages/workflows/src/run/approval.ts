import { isRecord } from "@durable-payments/api-core/values";
import type { ApprovalRequest } from "@durable-payments/protocol";

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";

const isSamePerson = (a: string, b: string): boolean =>
  a.trim().toLowerCase() === b.trim().toLowerCase();

/** Why an approval cannot be taken, or undefined when it can. An update can carry anything. */
export const whyNotApproved = (
  request: ApprovalRequest | undefined,
  approval: unknown,
): string | undefined => {
  if (request === undefined) return "This run does not wait for an approval.";
  if (!isRecord(approval) || !isText(approval["by"])) return "Give the name of who decides (by).";
  const { approve, by, hash, reject } = approval;
  if (request.startedBy === undefined) {
    return "Nobody can approve a run that does not say who started it (memo startedBy).";
  }
  if (isSamePerson(by, request.startedBy)) {
    return `${by} started this run: a second person has to decide.`;
  }
  if (request.amendedBy?.some((name) => isSamePerson(by, name))) {
    return `${by} amended this payment: a second person has to decide.`;
  }
  if (request.overruledBy?.some((name) => isSamePerson(by, name))) {
    return `${by} overruled who had ended this run: a second person has to decide.`;
  }
  if (request.rejectedOf?.some((name) => isSamePerson(by, name))) {
    return `${by} started what was rejected of this before: a second person has to decide.`;
  }
  if (hash !== request.hash) return `The approval is not for this payload (hash ${request.hash}).`;
  return (approve === true) === isText(reject)
    ? "Give either approve: true, or reject with why."
    : undefined;
};
