import { isAtLeast, withoutGroups } from "@durable-payments/api-core/decimal";
import {
  type Assumptions,
  type Balance,
  type Cardholder,
  type PaymentsClient,
  type Payout,
  UnexpectedAnswer,
} from "@durable-payments/api-core";
import type { Journal } from "@durable-payments/journal";
import type { CheckedCardholder } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { Effect, Option, Stream } from "effect";
import { contradictionOf, isOtherId, type SentPayout } from "./match-sent.ts";
import type { ReadPause } from "./pause.ts";
import { paused, toApplicationFailure } from "./failures.ts";
import { leftMs, pollAgain, type PollSchedule } from "./poll-schedule.ts";
import { type Call, type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import { cardholderState, payoutState } from "./statuses.ts";

/** A payout as it was seen: how it has ended, or that it is open. */
export interface SeenPayout {
  /** How it has ended; `open` while it has not. */
  readonly outcome: "open" | "completed" | "failed";
  /** The payout as it was read. */
  readonly payout: Payout;
  /** What the service reports instead of what was sent, in words; left out where nothing contradicts it. */
  readonly contradiction?: string;
}

/** A payout that is read, and what was sent as it, where that is known. */
interface ReadPayout {
  readonly payout_id: string;
  readonly sent?: SentPayout | undefined;
}

/**
 * A cardholder as the list shows it, if it does: how the identity check has ended, or that it is open;
 * `removed` where it is not listed, and a run of the same id has removed it.
 */
export type SeenCardholder =
  | CheckedCardholder
  | { readonly outcome: "open"; readonly cardholder: Cardholder | null }
  | { readonly outcome: "removed"; readonly cardholder: null };

/** What a balance holds, and whether that is what is needed. */
export interface SeenFunds {
  /** Whether it holds what is needed. */
  readonly isEnough: boolean;
  /** The balance as it was read. */
  readonly balance: Balance;
}

/** An amount that a balance is to hold. */
interface NeededFunds {
  readonly currency: string;
  readonly amount: string;
}

/**
 * Activities that poll once per attempt and, while what they await has not happened, ask Temporal
 * to try again later, up to `until`: what they see then is their result, whatever it is. Waiting for
 * weeks so adds no events to the workflow's history. The `check` activities read once.
 */
export interface WaitingActivities {
  readonly awaitPayoutEnd: (input: ReadPayout & PollSchedule) => Promise<SeenPayout>;
  readonly checkPayout: (input: ReadPayout) => Promise<SeenPayout>;
  readonly awaitVerification: (
    input: { readonly card_holder_id: string } & PollSchedule,
  ) => Promise<SeenCardholder>;
  readonly checkCardholder: (input: { readonly card_holder_id: string }) => Promise<SeenCardholder>;
  readonly awaitFunds: (input: NeededFunds & PollSchedule) => Promise<SeenFunds>;
  readonly checkFunds: (needed: NeededFunds) => Promise<SeenFunds>;
  /** Ends when sends are no longer paused. */
  readonly awaitResume: () => Promise<void>;
}

/** Finds a cardholder in the list: the service has no operation that reads one. */
const findCardholder = (client: PaymentsClient["Service"], card_holder_id: string) =>
  client.streams.listCardholders().pipe(
    Stream.filter((cardholder) => cardholder.card_holder_id === card_holder_id),
    Stream.runHead,
  );

/** What an answer says of a payout: nothing where it is about another one, which is read again then. */
const seenPayout = (
  payout_id: string,
  sent: SentPayout | undefined,
  payout: Payout,
  assumptions: Assumptions,
): Effect.Effect<SeenPayout, UnexpectedAnswer> => {
  const fields = assumptions.payoutFieldsAsSent;
  if (fields.includes("payout_id") && isOtherId(payout_id, payout.payout_id)) {
    return Effect.fail(
      new UnexpectedAnswer({
        operation: "retrievePayout",
        carriedOut: "no",
        message: `retrievePayout was answered about the payout ${payout.payout_id}, not ${payout_id}.`,
        answer: "",
      }),
    );
  }
  const contradiction = sent && contradictionOf(sent, payout, fields);
  return Effect.succeed({
    payout,
    outcome: payoutState(payout, assumptions),
    ...(contradiction !== undefined && { contradiction }),
  });
};

/** Make the waiting activities over a client. */
export const makeWaitingActivities = (
  runtime: PaymentsRuntime,
  readPause: ReadPause,
  journal: Journal,
): WaitingActivities => {
  const read = <A>(call: Call<A>, schedule?: PollSchedule): Promise<A> => {
    const left = schedule === undefined ? 0 : leftMs(schedule);
    // Whatever a read fails with, it says nothing about what is awaited: only bad input ends the wait.
    return runInActivity(runtime, call, (error) =>
      toApplicationFailure(error, {
        nonRetryable: error._tag === "InvalidRequest",
        ...(left > 0 && { longestDelayMs: left }),
      }),
    );
  };

  const readPayout = (
    { payout_id, sent }: ReadPayout,
    schedule?: PollSchedule,
  ): Promise<SeenPayout> =>
    read(
      (client) =>
        Effect.flatMap(client.retrievePayout({ payout_id }), (payout) =>
          seenPayout(payout_id, sent, payout, client.options.assumptions),
        ),
      schedule,
    );

  const readCardholder = async (
    card_holder_id: string,
    schedule?: PollSchedule,
  ): Promise<SeenCardholder> => {
    const seen = await read(
      (client) =>
        Effect.map(
          findCardholder(client, card_holder_id),
          Option.match({
            onNone: (): SeenCardholder => ({ outcome: "open", cardholder: null }),
            onSome: (cardholder) => ({
              outcome: cardholderState(cardholder, client.options.assumptions),
              cardholder,
            }),
          }),
        ),
      schedule,
    );
    return seen.cardholder === null && (await isRemoved(card_holder_id))
      ? { outcome: "removed", cardholder: null }
      : seen;
  };

  /** Whether a run of this workflow id has removed a cardholder that it created: then no list shows it. */
  const isRemoved = async (card_holder_id: string): Promise<boolean> => {
    const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
    // What cannot be read says nothing.
    const sends = await journal.find({ workflowId }).catch(() => []);
    return sends.some(
      ({ ids, outcome }) => outcome === "undone" && ids["card_holder_id"] === card_holder_id,
    );
  };

  const readFunds = (
    { amount, currency }: NeededFunds,
    schedule?: PollSchedule,
  ): Promise<SeenFunds> =>
    read(
      (client) =>
        Effect.map(client.retrieveBalance({ currency }), (balance) => ({
          isEnough: isAtLeast(withoutGroups(balance.available_balance), amount),
          balance,
        })),
      schedule,
    );

  return {
    awaitPayoutEnd: async ({ payout_id, sent, ...schedule }) => {
      const seen = await readPayout({ payout_id, sent }, schedule);
      return seen.outcome === "open"
        ? pollAgain(seen, schedule, `The payout is ${seen.payout.payout_status}.`)
        : seen;
    },

    checkPayout: (input) => readPayout(input),

    awaitVerification: async ({ card_holder_id, ...schedule }) => {
      const seen = await readCardholder(card_holder_id, schedule);
      if (seen.outcome !== "open") return seen;
      const { card_holder_status = "listed without a status" } = seen.cardholder ?? {};
      return pollAgain(
        seen,
        schedule,
        seen.cardholder === null
          ? "The cardholder is not in the list yet."
          : `The cardholder is ${card_holder_status}.`,
      );
    },

    checkCardholder: ({ card_holder_id }) => readCardholder(card_holder_id),

    awaitFunds: async ({ amount, currency, ...schedule }) => {
      const seen = await readFunds({ amount, currency }, schedule);
      const { available_balance } = seen.balance;
      return seen.isEnough
        ? seen
        : pollAgain(
            seen,
            schedule,
            `The ${currency} balance holds ${available_balance}, ${amount} is needed.`,
          );
    },

    checkFunds: (needed) => readFunds(needed),

    awaitResume: async () => {
      const pause = await readPause();
      if (pause !== undefined) throw paused(pause, { nonRetryable: false });
    },
  };
};
