import { defineUpdate } from "@temporalio/workflow";

/** A payment that waits for a second person. */
export interface ApprovalRequest {
  /** What is to be approved; account numbers are not in it. */
  readonly payment: Readonly<Record<string, unknown>>;
  /** Stands for the whole payload: an approval names it, and holds for nothing else. */
  readonly hash: string;
  /** Who started the run, and cannot approve it. */
  readonly startedBy: string | undefined;
  /** Who amended the payment since, and cannot approve it either; mostly left out. */
  readonly amendedBy?: ReadonlyArray<string>;
  /** Who overruled a person who had ended the run, and cannot approve it either; mostly left out. */
  readonly overruledBy?: ReadonlyArray<string>;
  /** Who started what a person had rejected of it before, and cannot approve it; mostly left out. */
  readonly rejectedOf?: ReadonlyArray<string>;
  /** ISO 8601. */
  readonly since: string;
}

/** A second person's decision. */
export type Approval = { readonly by: string; readonly hash: string } & (
  | { readonly approve: true }
  | { readonly reject: string }
);

/** Approves or rejects a payment that waits for a second person. */
export const approveUpdate = defineUpdate<void, [Approval]>("approve");

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

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
