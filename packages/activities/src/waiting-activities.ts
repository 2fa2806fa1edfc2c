import type { Balance, Cardholder, PaymentsClient, Payout } from "@durable-payments/api-core";
import { Context } from "@temporalio/activity";
import { Effect, Option, Stream } from "effect";
import type { Brake } from "./brake.ts";
import { notYet, paused, toApplicationFailure } from "./failures.ts";
import { isAtLeast } from "./money.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import { cardholderState, payoutState } from "./states.ts";

/** How often a waiting activity looks: a tenth of the time waited so far, within these bounds. */
export interface Pace {
  /** Milliseconds between the first looks. */
  readonly minIntervalMs: number;
  /** Milliseconds between looks after a long wait. */
  readonly maxIntervalMs: number;
}

/** A payout that has ended, and how. */
export interface EndedPayout {
  readonly outcome: "completed" | "failed";
  readonly payout: Payout;
}

/** A cardholder whose identity check has ended, and how. */
export interface CheckedCardholder {
  readonly outcome: "verified" | "refused" | "incomplete";
  readonly cardholder: Cardholder;
}

/** An amount that a balance is to hold. */
export interface NeededFunds {
  readonly currency: string;
  readonly amount: string;
}

/**
 * Activities that look once per attempt and, while what they await has not happened, ask Temporal
 * to try again later. Waiting for weeks so adds no events to the workflow's history.
 */
export interface WaitingActivities {
  readonly awaitPayoutEnd: (input: { readonly payout_id: string } & Pace) => Promise<EndedPayout>;
  readonly awaitVerification: (
    input: { readonly card_holder_id: string } & Pace,
  ) => Promise<CheckedCardholder>;
  readonly awaitFunds: (input: NeededFunds & Pace) => Promise<Balance>;
  /** Ends when sends are no longer paused. */
  readonly awaitResume: () => Promise<void>;
  /** One look, without waiting. */
  readonly checkFunds: (
    needed: NeededFunds,
  ) => Promise<{ readonly isEnough: boolean; readonly balance: Balance }>;
}

const nextLookMs = ({ maxIntervalMs, minIntervalMs }: Pace): number => {
  const waited = Date.now() - Context.current().info.scheduledTimestampMs;
  return Math.round(Math.max(minIntervalMs, Math.min(maxIntervalMs, waited / 10)));
};

/** Finds a cardholder in the list: the service has no operation that reads one. */
export const findCardholder = (client: PaymentsClient["Service"], card_holder_id: string) =>
  client.streams.listCardholders().pipe(
    Stream.filter((cardholder) => cardholder.card_holder_id === card_holder_id),
    Stream.runHead,
  );

/** The waiting activities over a client. */
export const makeWaitingActivities = (
  runtime: PaymentsRuntime,
  brake: Brake,
): WaitingActivities => {
  const look = <A>(call: Parameters<typeof runInActivity<A>>[1]): Promise<A> =>
    // Whatever a look fails with, it says nothing about what is awaited: only bad input ends the wait.
    runInActivity(runtime, call, (error) =>
      toApplicationFailure(error, { nonRetryable: error._tag === "InvalidRequest" }),
    );

  return {
    awaitPayoutEnd: async ({ payout_id, ...pace }) => {
      const { payout, state } = await look((client) =>
        Effect.map(client.retrievePayout({ payout_id }), (payout) => ({
          payout,
          state: payoutState(payout, client.options.assumptions),
        })),
      );
      if (state === "open") {
        throw notYet(`The payout is ${payout.payout_status}.`, nextLookMs(pace));
      }
      return { outcome: state, payout };
    },

    awaitVerification: async ({ card_holder_id, ...pace }) => {
      const { found, state } = await look((client) =>
        Effect.map(findCardholder(client, card_holder_id), (found) => ({
          found,
          state: Option.match(found, {
            onNone: () => "open" as const,
            onSome: (cardholder) => cardholderState(cardholder, client.options.assumptions),
          }),
        })),
      );
      if (Option.isNone(found)) {
        throw notYet("The cardholder is not in the list yet.", nextLookMs(pace));
      }
      if (state === "open") {
        throw notYet(`The cardholder is ${found.value.card_holder_status}.`, nextLookMs(pace));
      }
      return { outcome: state, cardholder: found.value };
    },

    awaitFunds: async ({ amount, currency, ...pace }) => {
      const balance = await look((client) => client.retrieveBalance({ currency }));
      if (!isAtLeast(balance.available_balance, amount)) {
        throw notYet(
          `The ${currency} balance holds ${balance.available_balance}, ${amount} is needed.`,
          nextLookMs(pace),
        );
      }
      return balance;
    },

    awaitResume: async () => {
      const pause = await brake();
      if (pause !== undefined) throw paused(pause, { nonRetryable: false });
    },

    checkFunds: async ({ amount, currency }) => {
      const balance = await look((client) => client.retrieveBalance({ currency }));
      return { isEnough: isAtLeast(balance.available_balance, amount), balance };
    },
  };
};
