import type { PaymentsError } from "@durable-payments/api-core";
import type { Ledger, NewWait, Wait } from "@durable-payments/ledger";
import { failureTypes, type WaitActivities } from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { Effect, Result } from "effect";
import { type Call, notYet, type PaymentsRuntime, runCall } from "../run-operation.ts";
import {
  intervalMs,
  LONGEST_TRACKER_REST_MS,
  orRemoved,
  readCardholder,
  readFunds,
  readPayout,
  type Seen,
} from "./read-things.ts";

/** The longest rest of a run that reads for itself, where no tracker completes its wait: each attempt is billed. */
const LONGEST_OWN_REST_MS = 6 * 3_600_000;

/**
 * Returns the failure of an attempt that reads for itself, until its next read is due.
 *
 * @param why a sentence for a person.
 */
const pollAgain = (why: string): ApplicationFailure => {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return notYet(
    why,
    intervalMs(currentAttemptScheduledTimestampMs - scheduledTimestampMs, LONGEST_OWN_REST_MS),
  );
};

/**
 * How a wait goes on after its first look. `completed`: the tracker completes its activity. `polled`: it reads the
 * service itself, as the time-skipping test server holds its time during asynchronous completion.
 */
export type WaitsBy = "completed" | "polled";

/** What the activities that wait take. */
export interface WaitOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** The account of the runtime's client, as a hash. */
  readonly account: () => Promise<string>;
  readonly waits: WaitsBy;
}

const isFinal = ({ _tag: tag }: PaymentsError, kind: Wait["kind"]): boolean =>
  // A balance that the service does not have: the step creates it.
  tag === "InvalidRequest" || (tag === "Refused" && kind === "balance");

const final = ({ _tag: tag, message, operation }: PaymentsError): ApplicationFailure =>
  ApplicationFailure.create({
    type: tag === "InvalidRequest" ? failureTypes.invalidRequest : failureTypes.refused,
    message,
    nonRetryable: true,
    details: [{ operation }],
  });

/** Makes the activities that wait for the service. */
export const makeWaitActivities = ({
  account,
  ledger,
  runtime,
  waits,
}: WaitOptions): WaitActivities => {
  const here = async (kind: Wait["kind"], thing: string): Promise<NewWait> => {
    const { activityId, workflowExecution } = Context.current().info;
    const { runId = "", workflowId = "" } = workflowExecution ?? {};
    return { account: await account(), workflowId, runId, activityId, kind, thing };
  };

  /** Leaves the end of the activity to the tracker. */
  const leaveToTracker = async (kind: Wait["kind"], thing: string, why: string): Promise<never> => {
    if (waits === "polled") throw pollAgain(why);
    try {
      await ledger.openWait(await here(kind, thing));
    } catch (error) {
      Context.current().log.warn(`The wait could not be recorded: ${String(error)}`);
      throw notYet(why, LONGEST_TRACKER_REST_MS);
    }
    // Temporal completes it by its id in back-off, too. Left as started, it would be stuck where its worker is killed
    // before the wait is recorded.
    throw notYet(why, LONGEST_OWN_REST_MS);
  };

  const wait = async <A>(
    kind: Wait["kind"],
    thing: string,
    read: Call<Seen<A>>,
    mode: "look" | undefined,
  ): Promise<A> => {
    const result = await runCall(runtime, read, Context.current().cancellationSignal);
    if (Result.isSuccess(result)) {
      const { isOpen, seen, why } = result.success;
      return isOpen && mode !== "look" ? leaveToTracker(kind, thing, why) : seen;
    }
    const { failure } = result;
    // Whatever else a read fails with says nothing about what is waited for.
    if (isFinal(failure, kind)) throw final(failure);
    if (mode === "look") throw pollAgain(failure.message);
    return leaveToTracker(kind, thing, failure.message);
  };

  return {
    awaitPayout: (input) =>
      wait("payout", input.payout_id, (client) => readPayout(client, input), input.mode),
    awaitVerification: ({ card_holder_id, mode }) =>
      wait(
        "cardholder",
        card_holder_id,
        (client) =>
          Effect.flatMap(readCardholder(client, { card_holder_id }), (found) =>
            found.seen.card_holder_status === undefined
              ? Effect.promise(async () => orRemoved(ledger, await account(), found))
              : Effect.succeed(found),
          ),
        mode,
      ),
    awaitFunds: (input) =>
      wait(
        "balance",
        `${input.currency} ${input.amount}`,
        (client) => readFunds(client, input),
        input.mode,
      ),
  };
};
