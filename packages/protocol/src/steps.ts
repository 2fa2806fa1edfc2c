import { ownSendingOf, ownSendingReconciledBy, ownSendingUndoneBy } from "./own-operations.ts";
import type { Sending } from "./sending.ts";

/** What tools and workers know of a step by its kind; {@link stepKinds} has all of them. */
export interface StepKind {
  readonly sends?: Sending;
  /** It waits for somebody else: a run of a batch gives its slot back meanwhile. */
  readonly waits?: true;
  /** It waits for a person. */
  readonly asks?: true;
}

/**
 * The steps that runs consist of, by the name that a step has unless its workflow gives it another. A
 * second step of the same name is numbered: `createPayout (2)`.
 */
export const stepKinds = {
  checkInput: {},
  findAccount: {},
  checkRequests: {},
  createBeneficiary: {
    sends: {
      operation: "createBeneficiary",
      makes: "beneficiary",
      idField: "beneficiary_id",
      input: "beneficiary",
      filledIn: [],
      sentTwice: "if it was carried out, a second beneficiary stands, which moves no money",
    },
  },
  createPayout: {
    sends: {
      operation: "createPayout",
      makes: "payout",
      idField: "payout_id",
      input: "payout",
      beside: "beneficiary_id",
      filledIn: ["unique_request_id"],
      reconciledBy: "findPayouts",
      sentTwice: "pays twice if it was carried out",
    },
  },
  createCardholder: {
    sends: {
      operation: "createCardholder",
      makes: "cardholder",
      idField: "card_holder_id",
      input: "cardholder",
      filledIn: [],
      reconciledBy: "findCardholders",
      undoneBy: "removeCardholder",
      isReplaceable: true,
      sentTwice: "if it was carried out, a second cardholder stands, which moves no money",
    },
  },
  issueCard: {
    sends: {
      operation: "createCard",
      makes: "card",
      idField: "card_id",
      input: "card",
      filledIn: ["card_holder_id", "balance_id", "unique_request_id"],
      undoneBy: "cancelCard",
      isNowhereShown: true,
      sentTwice:
        "no second card, if it was carried out: the service ignores or refuses the repeat of its key (unique_request_id)",
    },
  },
  awaitApproval: { waits: true, asks: true },
  awaitFunds: { waits: true },
  awaitPayout: { waits: true },
  awaitVerification: { waits: true },
  confirmCard: {},
  ensureBalance: {},
  awaitPayouts: { waits: true },
  startPayouts: {},
} as const satisfies Readonly<Record<string, StepKind>>;

/** Name of a step of this project's own workflows. */
export type StepName = keyof typeof stepKinds;

/** Name of an operation of the payment service that a step of this project sends. */
export type SentOperation = Extract<
  (typeof stepKinds)[StepName],
  { readonly sends: unknown }
>["sends"]["operation"];

/** The names of the steps, each as a constant: no other file spells one. */
export const STEP = Object.fromEntries(Object.keys(stepKinds).map((name) => [name, name])) as {
  readonly [Name in StepName]: Name;
};

const all: ReadonlyArray<[string, StepKind]> = Object.entries(stepKinds);

/** All that steps send, each once. */
export const sendings: ReadonlyArray<Sending> = all.flatMap(([, { sends }]) => sends ?? []);

/** Look up what an operation, and so an activity, sends for a step; undefined where it is no such one. */
export const sendingOf = (operation: string): Sending | undefined =>
  sendings.find((sending) => sending.operation === operation) ?? ownSendingOf(operation);

/** Look up the write that an activity reconciles; undefined where it is no such one. */
export const sendingReconciledBy = (activity: string): Sending | undefined =>
  sendings.find(({ reconciledBy }) => reconciledBy === activity) ??
  ownSendingReconciledBy(activity);

/** Look up what an operation, and so an activity, undoes; undefined where it is no such one. */
export const sendingUndoneBy = (operation: string): Sending | undefined =>
  sendings.find(({ undoneBy }) => undoneBy === operation) ?? ownSendingUndoneBy(operation);

/** Check whether a step is one of this name: the first, or a numbered one such as `createPayout (2)`. */
export const isStepOf = (name: StepName, step: string): boolean =>
  step === name || step.startsWith(`${name} `);
