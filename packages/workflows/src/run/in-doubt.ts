import type { ForgottenSend, JournalSend, KnownSends } from "@durable-payments/activities";
import { COMMAND } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { workflowInfo } from "@temporalio/workflow";
import { rootCause } from "./failures.ts";

/** A step that has sent something, and it is not known what became of it. */
export interface StepInDoubt {
  /** The step that sent it. */
  readonly step: string;
  /** The operation that was sent. */
  readonly operation: string;
  /** The `unique_request_id` under which it was sent, where it has one. */
  readonly key?: string;
  /** Decimal string. */
  readonly amount?: string;
  /** Three-letter code (ISO 4217). */
  readonly currency?: string;
  /** What the journal has of the service's answer, where the run itself never had it: payout_id, … */
  readonly ids?: Readonly<Record<string, string>>;
}

/** The money that a request moves, where it says so; cards are in USD only. */
const moneyOf = (request: object): Pick<StepInDoubt, "amount" | "currency"> => {
  if ("card_limit" in request && typeof request.card_limit === "string") {
    return { amount: request.card_limit, currency: "USD" };
  }
  return {
    ...("amount" in request && typeof request.amount === "string" && { amount: request.amount }),
    ...("currency" in request &&
      typeof request.currency === "string" && { currency: request.currency }),
  };
};

/** What is in doubt while it is not known what became of a send. */
export const inDoubtOf = (
  { operation, step }: Pick<StepInDoubt, "operation" | "step">,
  request: object,
  key: string | undefined,
): StepInDoubt => ({ step, operation, ...(key !== undefined && { key }), ...moneyOf(request) });

/** The money that a request moves, for a person; undefined where it moves none. */
export const moneyText = (request: object): string | undefined => {
  const { amount, currency = "" } = moneyOf(request);
  return amount === undefined ? undefined : `${amount} ${currency}`.trim();
};

/** A send of a step that carried another request than the step's of now: the journal alone knows it. */
export const otherInDoubt = (
  { operation, step }: Pick<StepInDoubt, "operation" | "step">,
  { amount, currency, key }: JournalSend,
): StepInDoubt => ({
  step,
  operation,
  ...(key !== undefined && { key }),
  ...(amount !== undefined && { amount }),
  ...(currency !== undefined && { currency }),
});

/** A send that only the journal knows of. */
export const forgottenInDoubt = ({
  begunAt: _,
  ids,
  made: __,
  ...send
}: ForgottenSend): StepInDoubt => ({
  ...send,
  ...(Object.keys(ids).length > 0 && { ids }),
});

/** Name a send in doubt, for a person. */
export const namedInDoubt = ({
  amount,
  currency = "",
  ids = {},
  key,
  operation,
  step,
}: StepInDoubt): string => {
  const about = [
    ...(step === operation ? [] : [operation]),
    ...(amount === undefined ? [] : [`${amount} ${currency}`.trim()]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...Object.entries(ids).map(([name, id]) => `${name} ${id}, as the journal has it`),
  ];
  return about.length === 0 ? step : `${step} (${about.join(", ")})`;
};

/**
 * The failure of a run that ends, however it does, while it is not known what became of what some of
 * its steps have sent.
 */
export const endedInDoubt = (
  error: unknown,
  details: {
    readonly inDoubt: ReadonlyArray<StepInDoubt>;
    /** What was to be undone and was not. */
    readonly leftOver: ReadonlyArray<string>;
    readonly ids: Readonly<Record<string, string>>;
  },
): ApplicationFailure => {
  const { inDoubt, leftOver } = details;
  const cause = rootCause(error);
  const notUndone = leftOver.length === 0 ? "" : ` Not undone: ${leftOver.join("; ")}.`;
  return ApplicationFailure.create({
    type: "EndedInDoubt",
    message: `The run ended (${cause.message}) while nobody knows whether this was carried out: ${inDoubt.map(namedInDoubt).join("; ")}. The money may have moved: do not pay it again by other means before you have looked it up with the service. Then settle it (${COMMAND} settle ${workflowInfo().workflowId}), or go on with the run (${COMMAND} runs retry), which looks first.${notUndone}`,
    nonRetryable: true,
    details: [details],
    cause,
  });
};

/** What another step of the same run has made, or may have made. */
export interface Sibling {
  /** Name of the step. */
  readonly step: string;
  /** What it owns, as in PaymentIds: `payout:ID`, `key:KEY`, … */
  readonly owned: ReadonlyArray<string>;
  /** Mark of what it may have made while it is not known what became of it, as in PaymentIds. */
  readonly intent: string | undefined;
}

/** The steps of a run that send: what each owns, and which of them are in doubt. */
export class SendingSteps {
  readonly #owned = new Map<string, Set<string>>();
  readonly #inDoubt = new Map<string, StepInDoubt>();
  /** What was sent before with another request, and something else was sent beside. */
  readonly #left: Array<StepInDoubt> = [];
  readonly #numbers: Record<string, number> = {};

  /** The run knows what became of the sends of a step up to this one, or that it is in doubt. */
  knowUpTo(step: string, number: number): void {
    this.#numbers[step] = number;
  }

  /** By step, the number of the latest send that the run knows of. */
  get numbers(): KnownSends {
    return this.#numbers;
  }

  /** Whether a step sends, or has sent. */
  has(step: string): boolean {
    return this.#owned.has(step);
  }

  /** What a step owns, as in PaymentIds: `payout:ID`, `key:KEY`, … */
  own(step: string, keys: Iterable<string>): void {
    const owned = this.#owned.get(step) ?? new Set<string>();
    for (const key of keys) owned.add(key);
    this.#owned.set(step, owned);
  }

  /** It is not known what became of a step's send. */
  doubt(inDoubt: StepInDoubt): void {
    this.#inDoubt.set(inDoubt.step, inDoubt);
  }

  /** It is not known what became of an earlier send, whatever comes of what is sent beside it. */
  leave(inDoubt: StepInDoubt): void {
    this.#left.push(inDoubt);
  }

  /** Whether that is known of this very send already. */
  hasLeft({ amount, currency, key, step }: StepInDoubt): boolean {
    return this.leftBy(step).some(
      (left) => left.key === key && left.amount === amount && left.currency === currency,
    );
  }

  /** What a step has left in doubt. */
  leftBy(step: string): ReadonlyArray<StepInDoubt> {
    return this.#left.filter((left) => left.step === step);
  }

  /** It is known what became of all that a step has sent so far, but for what it has left in doubt. */
  know(step: string): void {
    this.#inDoubt.delete(step);
  }

  /** Whether it is not known what became of a step's send. */
  isInDoubt(step: string): boolean {
    return this.#inDoubt.has(step) || this.leftBy(step).length > 0;
  }

  /** Whether there is one, beside those that people have left in doubt. */
  get isAnyUnknown(): boolean {
    return this.#inDoubt.size > 0;
  }

  /** The sends whose outcome is not known, in the order in which they became so. */
  get inDoubt(): ReadonlyArray<StepInDoubt> {
    return [...this.#left, ...this.#inDoubt.values()];
  }

  /** What the other steps own, and by `intents` may have made. */
  siblings(step: string, intents: ReadonlyMap<string, string>): ReadonlyArray<Sibling> {
    return [...this.#owned]
      .filter(([name]) => name !== step)
      .map(([name, owned]) => ({ step: name, owned: [...owned], intent: intents.get(name) }));
  }
}
