import type { SeenCardholder } from "@durable-payments/activities";
import { intentOfCardholder, matchCardholder } from "@durable-payments/activities/match-rows";
import type { Cardholder, CreateCardholderInput } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { COMMAND, type Duration, type Replacement, STEP } from "@durable-payments/protocol";
import { isCancellation, patched } from "@temporalio/workflow";
import { activities, localReadings } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import { expectReadable, expectTimes, object, text, waiting } from "../run/input-faults.ts";
import { type Run, stateOf } from "../run/run.ts";
import { awaitCompletion, type AwaitCompletionOptions } from "./await-completion.ts";
import { checkRequest } from "./check-requests.ts";
import { READ_OPTIONS } from "./reconcile.ts";
import { sendAndReconcile } from "./send.ts";
import type { Reconciler } from "./write.ts";

type Identified = Pick<Cardholder, "card_holder_id"> & Partial<Cardholder>;

const cardholderReconciler: Reconciler<CreateCardholderInput, Identified> = {
  find: (request, search) =>
    activities.findCardholders.executeWithOptions(
      { ...READ_OPTIONS, summary: "Find the cardholder in the list" },
      [{ request, ...search }],
    ),
  shown: ({ card_holder_id, card_holder_status = "", create_time = "" }) => ({
    card_holder_id,
    card_holder_status,
    create_time,
  }),
};

/** Before, one that no list showed was taken as a person gave it. */
const GIVEN_CARDHOLDERS = "a cardholder that a person gives is listed";

/**
 * Take a cardholder that was found for the one who was to be created.
 *
 * @throws OtherCardholder where the list shows that it is somebody else, or does not show one that a person gives.
 */
const foundCardholder = async (
  { card_holder_id = "" }: Readonly<Record<string, string>>,
  request: CreateCardholderInput,
  _?: unknown,
  givenBy?: string,
): Promise<Identified> => {
  const { cardholder } = await activities.checkCardholder({ card_holder_id });
  if (cardholder === null && givenBy !== undefined && patched(GIVEN_CARDHOLDERS)) {
    throw runFailure("OtherCardholder", `${card_holder_id} is not listed.`, { card_holder_id });
  }
  if (cardholder !== null && matchCardholder(request, { ...cardholder }) === "different") {
    throw runFailure("OtherCardholder", `${card_holder_id} is another person.`, { card_holder_id });
  }
  return { card_holder_id };
};

/**
 * Remove the cardholder in whose place another one is to be created, where the person said so who had the
 * run retried: once it is known that the other may be sent.
 */
const removeReplaced = async (
  run: Run,
  cardholder: CreateCardholderInput,
  { replaced, step }: { readonly replaced: ReadonlyArray<Replacement>; readonly step: string },
): Promise<void> => {
  const state = stateOf(run);
  const before = await state.sentBefore(step);
  for (const { id, what } of replaced) {
    if (what === "keep") {
      run.note(`the cardholder ${id} was replaced, and stands beside`);
      continue;
    }
    // Retried once more, after another one was made: it was removed before that.
    if (before?.outcome === "known") continue;
    await checkRequest(state, { operation: "createCardholder", step }, cardholder);
    try {
      await removeCardholder(id);
    } catch (error) {
      // Removed by an attempt whose answer was lost: what a list shows no more is not refused twice.
      const { cardholder: listed } = await activities.checkCardholder({ card_holder_id: id });
      if (isCancellation(error) || listed !== null) throw error;
    }
    state.audit.add({ who: "run", step, what: "removed", detail: { card_holder_id: id } });
  }
};

const readable = object({ first_name: text, last_name: text });

/**
 * Create a cardholder, exactly once: one whose answer is lost is reconciled with the list.
 *
 * @param cardholder the request, in the service's field names.
 * @param step name of the step, where a run creates several cardholders.
 * @returns its `card_holder_id`.
 * @throws Refused where the service says no, unless the run asks a person then.
 * @throws Abandoned where a person ends the run.
 * @example
 * ```ts
 * const card_holder_id = await createCardholder(run, cardholder);
 * await awaitVerification(run, card_holder_id, { within: "3 days" });
 * ```
 */
export const createCardholder = (
  run: Run,
  cardholder: CreateCardholderInput,
  step: string = STEP.createCardholder,
): Promise<string> =>
  run.step(step, "creating the cardholder", async () => {
    expectReadable(cardholder, step, readable);
    const create = () =>
      sendAndReconcile<CreateCardholderInput, Identified>(run, {
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
        reconciler: cardholderReconciler,
        whenLost: "reconcile",
        shown: ({ first_name, last_name }) => ({ first_name, last_name }),
        idsWanted: ["card_holder_id"],
        fromIds: foundCardholder,
        ids: (created) => ({ card_holder_id: created.card_holder_id }),
      });
    const replaced = stateOf(run).replaced(step);
    const created =
      replaced.length === 0
        ? create()
        : removeReplaced(run, cardholder, { replaced, step }).then(create);
    return created.then(({ card_holder_id }) => card_holder_id);
  });

/**
 * Wait until a cardholder's identity check has passed: until the tracker signals it and the list shows
 * it, or the run sees it by itself. A last reading is taken after `within`, default 7 days.
 *
 * @throws VerificationRefused where the check failed.
 * @throws VerificationIncomplete where the service lacks something of the cardholder.
 * @throws CardholderRemoved where a run of this id has removed the cardholder.
 * @throws VerificationOverdue after `within`.
 * @throws InvalidRequest where `within` or `pollInterval` is no length of time; the cardholder stands.
 */
export const awaitVerification = (
  run: Run,
  card_holder_id: string,
  { within = "7 days", ...options }: AwaitCompletionOptions = {},
): Promise<void> =>
  run.step(STEP.awaitVerification, "waiting for the identity check", async (step) => {
    const waits = { within, ...options };
    expectTimes(waits, step, waiting, `The cardholder ${card_holder_id} stands.`);
    const reading = { summary: `Read the identity check of ${card_holder_id}` };
    const seen = await awaitCompletion<SeenCardholder>(
      run,
      {
        step,
        note: "waiting for the identity check",
        awaited: `cardholder:${card_holder_id}`,
        isAbout: (content) =>
          isRecord(content) &&
          isRecord(content["cardholder"]) &&
          content["cardholder"]["card_holder_id"] === card_holder_id,
        readLocally: () =>
          localReadings.checkCardholder.executeWithOptions(reading, [{ card_holder_id }]),
        read: (bounds) =>
          activities.checkCardholder.executeWithOptions({ ...reading, ...bounds }, [
            { card_holder_id },
          ]),
        poll: ({ awaitVerification }, bounds, schedule) =>
          awaitVerification.executeWithOptions(
            { summary: `Await the identity check of ${card_holder_id}`, ...bounds },
            [{ card_holder_id, ...schedule }],
          ),
      },
      waits,
    );
    expectVerified(seen, card_holder_id, within);
  });

/** A check that failed is no end: the run goes on by any of these. */
const WHAT_TO_DO = `Correct it at the service and retry (${COMMAND} runs retry), retry with other data of the cardholder (--amend), or onboard anew under another id.`;

/** Expect that the cardholder is verified. */
const expectVerified = (seen: SeenCardholder, card_holder_id: string, within: Duration): void => {
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
        `The identity check of cardholder ${card_holder_id} failed (${card_holder_status}). ${WHAT_TO_DO}`,
        { card_holder_id, card_holder_status },
      );
    case "incomplete":
      throw runFailure(
        "VerificationIncomplete",
        `The identity check of cardholder ${card_holder_id} lacks something (${card_holder_status}). ${WHAT_TO_DO}`,
        { card_holder_id, card_holder_status },
      );
  }
};

/** Remove a cardholder. */
export const removeCardholder = (card_holder_id: string): Promise<void> =>
  activities.removeCardholder.executeWithOptions(
    { summary: `Remove the cardholder ${card_holder_id}`, scheduleToCloseTimeout: "1 day" },
    [{ card_holder_id }],
  );
