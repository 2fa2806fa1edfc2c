import { ALREADY_SENT, type PaymentsActivities } from "@durable-payments/activities";
import { type OnboardCardholderInput, progressQuery } from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import { WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { onboardCardholder } from "../src/index.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig } from "./support/hooks.ts";
import { onboardInput } from "./support/inputs.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";
import { type Service, startService } from "./support/service.ts";
import { untilAsked } from "./support/until.ts";

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;

describe.skipIf(!timeSkipping.available)(`a run that fails${skipped}`, () => {
  const rig = useRig(timeSkippingRig);
  let service: Service;
  beforeEach(async () => {
    service = await startService({ verifyAfter: 0 });
  });
  afterEach(() => service.stop());

  const compensating = {
    ...onboardInput,
    card: { ...onboardInput.card, card_name: "Travel" },
    options: { onFailure: "compensate" },
  } satisfies OnboardCardholderInput;

  /** The card is issued, and then its confirmation is refused. */
  const unconfirmed = () =>
    service.simulator.addFault({ kind: "refusal-in-200", operation: "updateCard" });

  const fail = (
    input: OnboardCardholderInput = compensating,
    changes: Partial<PaymentsActivities> = {},
  ) =>
    withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
      const handle = await start(onboardCardholder, [input]);
      const failure = await failureOf(handle.result());
      return { failure, progress: await handle.query(progressQuery) };
    });

  const standing = async () => {
    const { balances, cardholders, cards } = await service.simulator.state();
    return {
      cards: cards.map(({ card_status }) => card_status),
      removed: cardholders.map(({ removed }) => removed),
      usd: balances.find(({ currency }) => currency === "USD")?.available_balance,
    };
  };

  it("keeps what it has made, unless it is to undo it", async () => {
    await unconfirmed();
    const { options: _, ...keeping } = compensating;
    const { failure } = await fail(keeping);
    expect(failure.type).toBe("Refused");
    expect(await standing()).toEqual({ cards: ["pending"], removed: [false], usd: "99900.00" });
  });

  it("cancels the card, which returns its money, and removes the cardholder, in this order", async () => {
    await unconfirmed();
    const { failure, progress } = await fail();
    expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
    expect(await standing()).toEqual({ cards: ["cancelled"], removed: [true], usd: "100000.00" });
    expect(progress.stage).toBe("failed");
    expect(progress.steps.slice(-3).map(({ name, status }) => `${name} ${status}`)).toEqual([
      "confirmCard failed",
      "undo: cancel the card done",
      "undo: remove the cardholder done",
    ]);
  });

  it("and makes both anew when it is started again with the same id", async () => {
    await unconfirmed();
    const workflowId = randomUUID();
    await withWorker(rig, service.activities, async ({ start }) => {
      const failed = await start(onboardCardholder, [compensating], workflowId);
      await failureOf(failed.result());
      await (await start(onboardCardholder, [compensating], workflowId)).result();
    });
    const { cards, removed } = await standing();
    expect({ cards, removed }).toEqual({ cards: ["cancelled", "pending"], removed: [true, false] });
  });

  it("asks whether to make it anew where its history was put back to before that", async () => {
    let isFirst = true;
    const createCardholder: PaymentsActivities["createCardholder"] = async (input, intent) => {
      if (!isFirst) return service.activities.createCardholder(input, intent);
      isFirst = false;
      const { runId = "" } = Context.current().info.workflowExecution ?? {};
      const ids = { card_holder_id: "H-1" };
      const sent = { number: 1, runId, outcome: "undone", ids, begunAt: 0, isSamePayload: true };
      throw ApplicationFailure.create({
        type: ALREADY_SENT,
        message: "It was carried out, and undone since.",
        nonRetryable: true,
        details: [sent],
      });
    };
    await withWorker(rig, { ...service.activities, createCardholder }, async ({ start }) => {
      const handle = await start(onboardCardholder, [compensating]);
      await untilAsked(handle, "undone since. To make it anew, resend");
      await decide(handle, { by: "Ada", resend: true });
      expect(await handle.result()).toMatchObject({ card_id: expect.any(String) as unknown });
    });
    expect(await standing()).toMatchObject({ cards: ["pending"], removed: [false] });
  });

  it("removes no cardholder that was there before", async () => {
    const { card_holder_id } = await withWorker(rig, service.activities, async ({ start }) =>
      (await start(onboardCardholder, [onboardInput])).result(),
    );
    await unconfirmed();
    const { cardholder: _, ...rest } = compensating;
    await fail({ ...rest, card_holder_id });
    expect(await standing()).toMatchObject({ cards: ["pending", "cancelled"], removed: [false] });
  });

  it("undoes nothing that it has not done", async () => {
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createCardholder" });
    const { failure } = await fail();
    expect(failure.type).toBe("Refused");
    expect(await service.requests("cancelCard")).toBe(0);
    expect(await service.requests("removeCardholder")).toBe(0);
  });

  it("tries to undo it until the service can be reached again", async () => {
    await unconfirmed();
    let failedReads = 0;
    const { failure } = await fail(compensating, {
      cancelCard: (input) => {
        failedReads += 1;
        return (failedReads <= 5 ? service.unreachable : service.activities).cancelCard(input);
      },
    });
    expect(failure.type).toBe("Refused");
    expect(await standing()).toEqual({ cards: ["cancelled"], removed: [true], usd: "100000.00" });
  });

  it("says what could not be undone, and undoes the rest", async () => {
    await unconfirmed();
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "cancelCard" });
    const { failure, progress } = await fail();
    const [card] = (await service.simulator.state()).cards;
    expect(failure).toMatchObject({ type: "CompensationIncomplete", nonRetryable: true });
    expect(failure.message).toContain("Refused on demand");
    expect(failure.details).toMatchObject([
      {
        leftOver: [expect.stringContaining("cancel the card (") as string],
        ids: { card_id: card?.card_id },
      },
    ]);
    expect(JSON.stringify(failure.details)).toContain("cancelCard was refused");
    expect(await standing()).toMatchObject({ cards: ["pending"], removed: [true] });
    expect(progress.stage).toBe("failed");
  });

  it("undoes what it has done when it is cancelled, too", async () => {
    await service.stop();
    service = await startService({ verifyAfter: 0, balances: { USD: "1.00" } });
    await withWorker(rig, service.activities, async ({ start }) => {
      const options = {
        ...compensating.options,
        pollInterval: { min: "6 hours", max: "6 hours" },
      } as const;
      const handle = await start(onboardCardholder, [{ ...compensating, options }]);
      await rig.environment.sleep("1 day");
      await handle.cancel();
      const error: unknown = await handle.result().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WorkflowFailedError);
      expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
      expect((await handle.query(progressQuery)).stage).toBe("cancelled");
    });
    expect(await standing()).toMatchObject({ cards: [], removed: [true] });
  });

  it("that is cancelled while a send is under way knows what became of it", async () => {
    const sending = Promise.withResolvers<void>();
    await withWorker(
      rig,
      {
        ...service.activities,
        createCard: async (card) => {
          // The service has it, and the answer is on its way.
          await service.simulator.addFault({
            kind: "slow",
            operation: "createCard",
            milliseconds: 1_500,
          });
          const answered = service.activities.createCard(card);
          sending.resolve();
          return answered;
        },
      },
      async ({ start }) => {
        const handle = await start(onboardCardholder, [compensating]);
        await sending.promise;
        await handle.cancel();
        const error: unknown = await handle.result().catch((thrown: unknown) => thrown);
        const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
        const { cards } = await standing();
        // Either the card is cancelled, or the failure says that there may be one.
        const reported = cause instanceof ApplicationFailure ? JSON.stringify(cause.details) : "";
        expect(cards[0] === "cancelled" || reported.includes("may have been issued")).toBe(true);
      },
    );
  });
});
