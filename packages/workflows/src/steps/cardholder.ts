import type { SeenCardholder } from "@durable-payments/activities";
import { cardholderIntent, matchCardholder } from "@durable-payments/activities/near-match";
import type { Cardholder, Input } from "@durable-payments/api-core";
import type { Duration } from "../run/duration.ts";
import { activities, localLooks } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import { intentOf } from "../run/keys.ts";
import {
  endOf,
  endsBy,
  orLastLook,
  lookingActivities,
  pace,
  type PollInterval,
  SAFETY_NET,
} from "../run/pace.ts";
import type { Run } from "../run/run.ts";
import { isRecord } from "../is-record.ts";
import { LOOK_OPTIONS } from "./reconcile.ts";
import { type LookUp, sendUntilKnown } from "./send.ts";

type CreateCardholder = Input<"createCardholder">;

type Identified = Pick<Cardholder, "card_holder_id"> & Partial<Cardholder>;

/** The list shows names, and no dates of birth. */
const intentOfCardholder = (cardholder: CreateCardholder) =>
  intentOf("createCardholder", cardholderIntent(cardholder));

const lookUpCardholder: LookUp<CreateCardholder, Identified> = {
  find: (request, sought) =>
    activities.findCardholders.executeWithOptions(
      { ...LOOK_OPTIONS, summary: "Look for the cardholder in the list" },
      [{ request, ...sought }],
    ),
  shown: ({ card_holder_id, card_holder_status = "", create_time = "" }) => ({
    card_holder_id,
    card_holder_status,
    create_time,
  }),
};

/**
 * Takes a cardholder that was found for the one who was to be created.
 *
 * @throws OtherCardholder where the list shows that it is somebody else.
 */
const foundCardholder = async (
  { card_holder_id = "" }: Readonly<Record<string, string>>,
  request: CreateCardholder,
): Promise<Identified> => {
  const { cardholder } = await activities.checkCardholder({ card_holder_id });
  if (cardholder !== null && matchCardholder(request, { ...cardholder }) === "different") {
    throw runFailure("OtherCardholder", `${card_holder_id} is another person.`, { card_holder_id });
  }
  return { card_holder_id };
};

/**
 * Creates a cardholder, exactly once: one whose answer is lost is looked for in the list.
 *
 * @param step name of the step, when a run creates several cardholders.
 * @returns its card_holder_id.
 */
export const createCardholder = (
  run: Run,
  cardholder: CreateCardholder,
  step = "createCardholder",
): Promise<string> =>
  run.step(step, "creating the cardholder", () =>
    sendUntilKnown<CreateCardholder, Identified>(run, {
      step,
      operation: "createCardholder",
      request: cardholder,
      intent: intentOfCardholder,
      isKeyed: false,
      send: (request, intent) =>
        activities.createCardholder.executeWithOptions({ summary: "Create the cardholder" }, [
          request,
          intent,
        ]),
      lookUp: lookUpCardholder,
      whenLost: "lookUp",
      shown: ({ first_name, last_name }) => ({ first_name, last_name }),
      idsWanted: ["card_holder_id"],
      fromIds: foundCardholder,
      ids: (created) => ({ card_holder_id: created.card_holder_id }),
    }).then(({ card_holder_id }) => card_holder_id),
  );

/** How long {@link awaitVerification} waits, and how often it looks by itself. */
export interface AwaitVerificationOptions {
  /** Longest time to wait, default 7 days. */
  readonly within?: Duration;
  /** Time between two looks of its own, default an hour to six: the tracker tells it before. */
  readonly pollInterval?: PollInterval;
}

/**
 * Waits until a cardholder's identity check has passed: until the tracker tells so and the list shows
 * it, or the run sees it by itself. A last look is taken at the end of the wait.
 *
 * @throws VerificationRefused, VerificationIncomplete, CardholderRemoved, or VerificationOverdue after
 * `within`.
 */
export const awaitVerification = (
  run: Run,
  card_holder_id: string,
  { pollInterval, within = "7 days" }: AwaitVerificationOptions = {},
): Promise<void> =>
  run.step("awaitVerification", "waiting for the identity check", (step) => {
    run.waiting(step, "waiting for the identity check");
    const until = endOf(within);
    const check = { summary: `Look at the identity check of ${card_holder_id}` };
    return run
      .toldOrSeen<SeenCardholder>(`cardholder:${card_holder_id}`, {
        isAbout: (told) =>
          isRecord(told) &&
          isRecord(told["cardholder"]) &&
          told["cardholder"]["card_holder_id"] === card_holder_id,
        confirm: () =>
          localLooks.checkCardholder
            .executeWithOptions(check, [{ card_holder_id }])
            .catch(() =>
              activities.checkCardholder.executeWithOptions({ ...check, ...endsBy(until) }, [
                { card_holder_id },
              ]),
            )
            .then((seen) => (seen.outcome === "open" ? undefined : seen)),
        look: () =>
          orLastLook(
            until,
            lookingActivities(pollInterval).awaitVerification.executeWithOptions(
              { summary: `Await the identity check of ${card_holder_id}`, ...endsBy(until) },
              [{ card_holder_id, ...pace(pollInterval, SAFETY_NET, until) }],
            ),
            () => activities.checkCardholder.executeWithOptions(check, [{ card_holder_id }]),
          ),
      })
      .then((seen) => judgeCheck(seen, card_holder_id, within));
  });

/** Lets pass the cardholder who is verified. */
const judgeCheck = (seen: SeenCardholder, card_holder_id: string, within: Duration): void => {
  const card_holder_status = seen.cardholder?.card_holder_status ?? "";
  switch (seen.outcome) {
    case "verified":
      return;
    case "open":
      throw runFailure(
        "VerificationOverdue",
        `The identity check of cardholder ${card_holder_id} has not ended within ${String(within)}.`,
        { card_holder_id },
      );
    case "removed":
      throw runFailure(
        "CardholderRemoved",
        `The cardholder ${card_holder_id} is not listed, and was removed by a run of this id, as the journal has it: start a run of another id.`,
        { card_holder_id },
      );
    case "refused":
      throw runFailure(
        "VerificationRefused",
        `The identity check of cardholder ${card_holder_id} failed (${card_holder_status}).`,
        { card_holder_id, card_holder_status },
      );
    case "incomplete":
      throw runFailure(
        "VerificationIncomplete",
        `The identity check of cardholder ${card_holder_id} lacks something (${card_holder_status}): complete it with the service, then run again with card_holder_id.`,
        { card_holder_id, card_holder_status },
      );
  }
};

/** Removes a cardholder. */
export const removeCardholder = (card_holder_id: string): Promise<void> =>
  activities.removeCardholder.executeWithOptions(
    { summary: `Remove the cardholder ${card_holder_id}`, scheduleToCloseTimeout: "1 day" },
    [{ card_holder_id }],
  );
