import type { PaymentsActivities } from "@durable-payments/activities";
import { type OnboardCardholderInput, progressQuery } from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { onboardCardholder } from "../src/index.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig } from "./support/hooks.ts";
import { onboardInput } from "./support/inputs.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";
import { type Service, startService } from "./support/service.ts";

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;
const DAY = 24 * 60 * 60 * 1000;

describe.skipIf(!timeSkipping.available)(`an onboarding${skipped}`, () => {
  const rig = useRig(timeSkippingRig);
  let service: Service;
  afterEach(() => service.stop());

  const hourly = { pollInterval: { min: "6 hours", max: "6 hours" } } as const;

  const onboard = async (
    input: OnboardCardholderInput = onboardInput,
    activities: PaymentsActivities = service.activities,
  ) =>
    withWorker(rig, activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [input]);
      const result = await handle.result();
      return {
        result,
        progress: await handle.query(progressQuery),
        events: (await handle.fetchHistory()).events?.length ?? 0,
      };
    });

  const failedOnboarding = (input: OnboardCardholderInput) =>
    withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [input]);
      const failure = await failureOf(handle.result());
      return { failure, progress: await handle.query(progressQuery) };
    });

  const named = (last_name: string): OnboardCardholderInput => ({
    ...onboardInput,
    cardholder: { ...onboardInput.cardholder, last_name },
  });

  describe("of which all goes well", () => {
    beforeEach(async () => {
      service = await startService({ verifyAfter: 0 });
    });

    it("issues one card, funded from the USD balance, and names it", async () => {
      const card = { ...onboardInput.card, card_name: "Travel" };
      const { progress, result } = await onboard({ ...onboardInput, card });
      const { balances, cardholders, cards } = await service.simulator.state();
      const usd = balances.find(({ currency }) => currency === "USD");
      expect(usd?.available_balance).toBe("99900.00");
      expect(cardholders).toHaveLength(1);
      expect(cards).toMatchObject([{ card_name: "Travel", card_limit: "100.00" }]);
      expect(result).toEqual({
        card_holder_id: cardholders[0]?.card_holder_id,
        card_id: cards[0]?.card_id,
        card_status: "pending",
        balance_id: usd?.balance_id,
        card_limit: "100.00",
      });
      expect(progress.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
        "checkRequests done",
        "createCardholder done",
        "awaitVerification done",
        "ensureBalance done",
        "awaitFunds done",
        "issueCard done",
        "confirmCard done",
      ]);
    });

    it("takes the balance that there is, though it could not be read at first", async () => {
      for (const operation of ["retrieveBalance", "createBalance"] as const) {
        await service.simulator.addFault({ kind: "refusal-in-200", operation });
      }
      const { result } = await onboard();
      expect(result.balance_id).not.toBe("");
      expect(await service.requests("retrieveBalance")).toBeGreaterThanOrEqual(2);
    });

    it("takes a cardholder that exists", async () => {
      const { result } = await onboard();
      const { card_holder_id } = result;
      const { card } = onboardInput;
      expect((await onboard({ card_holder_id, card })).result).toMatchObject({ card_holder_id });
      const { cardholders, cards } = await service.simulator.state();
      expect(cardholders).toHaveLength(1);
      expect(cards.map((each) => each.card_holder_id)).toEqual([card_holder_id, card_holder_id]);
    });

    it("with a wrong input sends nothing, and names every fault", async () => {
      const { failure } = await failedOnboarding({
        cardholder: { ...onboardInput.cardholder, email: "", date_birth: "12.04.1990" },
        card: { product_code: "", card_limit: "-1" },
      });
      expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
      for (const fault of [
        "cardholder.email",
        "cardholder.date_birth",
        "card.product_code",
        "card.card_limit",
      ]) {
        expect(failure.message).toContain(fault);
      }
      expect((await service.simulator.state()).requests).toEqual({});
    });
  });

  describe("with an identity check", () => {
    it.each([
      ["Refused", "VerificationRefused", "failed (FAILED). Correct it at the service and retry"],
      [
        "Incomplete",
        "VerificationIncomplete",
        "lacks something (INCOMPLETE). Correct it at the service",
      ],
    ])("that ends as %s fails as %s, and issues no card", async (last_name, type, message) => {
      service = await startService({ verifyAfter: 0 });
      const { failure, progress } = await failedOnboarding(named(last_name));
      expect(failure).toMatchObject({ type, nonRetryable: true });
      expect(failure.message).toContain(message);
      const { cardholders, cards } = await service.simulator.state();
      expect(failure.details).toMatchObject([{ card_holder_id: cardholders[0]?.card_holder_id }]);
      expect(cards).toEqual([]);
      expect(progress.stage).toBe("failed");
    });

    it("that has not ended in time fails as VerificationOverdue", async () => {
      service = await startService();
      const { failure } = await failedOnboarding({ ...onboardInput, options: hourly });
      expect(failure).toMatchObject({ type: "VerificationOverdue", nonRetryable: true });
      expect(failure.message).toContain("7 days");
    });

    it("that takes days is awaited, with a short history", async () => {
      service = await startService();
      const started = await rig.environment.currentTimeMs();
      const { events, result } = await onboard(
        { ...onboardInput, options: hourly },
        {
          ...service.activities,
          awaitVerification: async (input) => {
            const elapsed = (await rig.environment.currentTimeMs()) - started;
            if (elapsed > 5 * DAY) {
              await service.simulator.setVerification(input.card_holder_id, "SUCCESS");
            }
            return service.activities.awaitVerification(input);
          },
        },
      );
      expect(result.card_status).toBe("pending");
      expect(events).toBeLessThan(70);
    });
  });

  describe("without funds", () => {
    beforeEach(async () => {
      service = await startService({ verifyAfter: 0, balances: { USD: "99.99" } });
    });

    it("shows how to fund the balance, and goes on when the funds are there after days", async () => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(onboardCardholder, [{ ...onboardInput, options: hourly }]);
        await rig.environment.sleep("3 days");
        const { shown, stage, steps } = await handle.query(progressQuery);
        expect(stage).toBe("awaitFunds");
        expect(steps.at(-1)).toMatchObject({
          status: "waiting",
          note: "the USD balance holds 99.99, 100.00 is needed",
        });
        const [usd] = (await service.simulator.state()).balances;
        expect(shown["fund USD"]).toMatchObject({
          status: "opened",
          local: [{ account_id: usd?.balance_id, clearing_system_type: "US-ACH" }],
        });
        await service.simulator.fund("USD", "0.01");
        expect(await handle.result()).toMatchObject({ balance_id: usd?.balance_id });
        // What has come true needs no bank details any more.
        expect((await handle.query(progressQuery)).shown["fund USD"]).toBeUndefined();
      });
      expect((await service.simulator.state()).balances[0]?.available_balance).toBe("0.00");
    });

    it("within the time allowed fails as FundsOverdue", async () => {
      const options = { ...hourly, fundWithin: "10 days" } as const;
      const { failure } = await failedOnboarding({ ...onboardInput, options });
      expect(failure).toMatchObject({
        type: "FundsOverdue",
        details: [{ amount: "100.00", currency: "USD" }],
      });
      expect((await service.simulator.state()).cards).toEqual([]);
    });
  });

  it("creates the USD balance where there is none", async () => {
    service = await startService({ verifyAfter: 0, balances: {} });
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [{ ...onboardInput, options: hourly }]);
      await rig.environment.sleep("1 day");
      expect((await service.simulator.state()).balances).toMatchObject([
        { currency: "USD", available_balance: "0.00" },
      ]);
      await service.simulator.fund("USD", "100.00");
      const [usd] = (await service.simulator.state()).balances;
      expect(await handle.result()).toMatchObject({ balance_id: usd?.balance_id });
    });
  });
});
