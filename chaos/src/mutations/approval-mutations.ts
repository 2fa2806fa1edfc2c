import type { Mutation } from "./mutation.ts";

/** The guards that send nothing which has to be approved, and is not. */
export const approvalMutations: readonly Mutation[] = [
  {
    name: "amended-since-approval",
    what: "an own operation, or a child, sends what a retry has amended since it was approved",
    edits: [
      {
        project: "packages/workflows",
        find: `this.approvals.isOutdated = this.approvals.isBound && this.#resetContext.approvesAnew;`,
        put: `this.approvals.isOutdated = false;`,
      },
    ],
    tests: ["--project=@durable-payments/operations", "own-workflows/own-workflows"],
  },
  {
    name: "approval",
    what: "what is above the limit of the worker is sent without the approval of a second person",
    edits: [
      {
        project: "packages/activities",
        find: `        if (why !== undefined) throw needsApproval(name, why);
`,
        put: "",
      },
    ],
    tests: ["--project=@durable-payments/activities", "approvals"],
  },
  {
    name: "unproved-approval",
    what: "a send is believed that says who has approved it, without a proof",
    edits: [
      {
        project: "packages/activities",
        find: `    if (approval === undefined) return why;
`,
        put: `    if (approvedBy !== undefined) return undefined;
    if (approval === undefined) return why;
`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "approvals"],
  },
  {
    name: "foreign-code",
    what: "a proof holds for a run whose code is run by somebody else",
    edits: [
      {
        project: "packages/activities",
        find: `start !== undefined && isRunOfQueue(start, taskQueue) ? start`,
        put: `start === undefined || isRunOfQueue(start, taskQueue) || start ? start`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "approvals"],
  },
  {
    name: "claimed-position",
    what: "a batch is approved because it says that a run before it was",
    edits: [
      {
        project: "packages/activities",
        find: `    if (proof === undefined) return false;
    const start`,
        put: `    if (proof !== undefined) return true;
    const start`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "forged-approvals"],
  },
  {
    name: "approved-payee",
    what: "an approved payout to a new beneficiary is sent to whichever was made",
    edits: [
      {
        project: "packages/activities",
        find: `(await this.#payees.isMadeOf(approvedFor, input, workflowId)) ? undefined : OTHER_MADE`,
        put: `(await this.#payees.isMadeOf(approvedFor, input, workflowId)) ? undefined : undefined`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "approvals"],
  },
];
