import type { Mutation } from "./mutation.ts";

/** Guards by which a run is paid from its own account and from no other. */
export const accountMutations: readonly Mutation[] = [
  {
    name: "account-name",
    what: "an account pays for a run of any name",
    edits: [
      {
        project: "packages/activities",
        find: `if (paymentAccountName !== own.name && !isOfAnyAccount(name)) {`,
        put: `if (paymentAccountName !== own.name && name === "") {`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "account-check"],
  },
  {
    name: "unknown-account",
    what: "a run of an account that the worker does not have is paid from another one",
    edits: [
      {
        project: "packages/activities",
        find: `accounts.get(given.paymentAccountName) ?? (isOfAnyAccount(name) ? any : undefined)`,
        put: `accounts.get(given.paymentAccountName) ?? any`,
      },
      {
        project: "packages/activities",
        find: `if (paymentAccountName !== own.name && !isOfAnyAccount(name)) {`,
        put: `if (paymentAccountName !== own.name && name === "") {`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "account-check"],
  },
  {
    name: "account-of-row",
    what: "a batch that was approved for one account pays rows of another",
    edits: [
      {
        project: "packages/activities",
        find: `if (row.input.account !== account) return "its account is not that of its batch";`,
        put: `if (row.row < 0 && row.input.account !== account) return "its account is not that of its batch";`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "forged-batches"],
  },
  {
    name: "account-of-batch",
    what: "a batch is paid by whichever account has the name of its own by now",
    edits: [
      {
        project: "packages/workflows",
        find: `return name === undefined ? send() : send(...accountArguments(account));`,
        put: `return name === undefined || account === "" ? send() : send(...accountArguments());`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "forged-batches"],
  },
];
