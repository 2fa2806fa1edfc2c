import type { PaymentsActivities, SendIntent } from "@durable-payments/activities";
import {
  auditQuery,
  pauseId,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  type PayoutInput,
  type Progress,
  progressQuery,
} from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pauseSends } from "../src/definitions/pause-sends.ts";
import { onboardCardholder, payout } from "../src/index.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { type Ownership, foundBy, reconciliationIn } from "./support/reconciliation.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";
import { startService } from "./support/service.ts";

const anyText: unknown = expect.any(String);

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;

describe.skipIf(!timeSkipping.available)(`a write${skipped}`, () => {
  const rig = useRig(timeSkippingRig);
  const service = useService({ settleAfter: 0, verifyAfter: 0 });

  const activities = (
    changes: Partial<PaymentsActivities> = {},
    ownership: Ownership = {},
  ): Partial<PaymentsActivities> => ({
    ...service.activities,
    ...reconciliationIn(service.simulator, ownership),
    ...changes,
  });

  /** Runs a payout to its end. */
  const pay = (changes: Partial<PaymentsActivities> = {}) =>
    withWorker(rig, activities(changes), async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      const result = await handle.result();
      return {
        result,
        progress: await handle.query(progressQuery),
        audit: await handle.query(auditQuery),
        handle,
      };
    });

  describe("that is certainly not carried out is sent again, however long it takes:", () => {
    it("a service that asks to wait", async () => {
      await service.simulator.addFault({
        kind: "rate-limited",
        operation: "createPayout",
        seconds: 90,
        times: 3,
      });
      const { audit } = await pay();
      const sends = audit.filter(({ what }) => what === "sending").map(({ at }) => Date.parse(at));
      expect(sends).toHaveLength(5);
      const gaps = sends.slice(2).map((at, i) => at - (sends[i + 1] ?? 0));
      for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(90_000);
      expect(await service.requests("createPayout")).toBe(4);
      expect((await service.simulator.state()).payouts).toHaveLength(1);
    });

    it("a service that turns everything away for ten days, with a short history", async () => {
      const sixHours = 6 * 60 * 60;
      await service.simulator.addFault({ kind: "rate-limited", seconds: sixHours, times: 40 });
      const { handle, progress } = await pay();
      expect((await handle.fetchHistory()).events?.length).toBeLessThan(60);
      const [since = 0, until = 0] = ["checkRequests", "createPayout"].map((step) =>
        Date.parse(progress.steps.find(({ name }) => name === step)?.until ?? ""),
      );
      expect(until - since).toBeGreaterThan(9 * 24 * 60 * 60_000);
    });

    it("a service that is out of reach", async () => {
      let failedReads = 0;
      const { result } = await pay({
        createPayout: (input, intent) => {
          failedReads += 1;
          // Nothing has arrived, so that no refusal is one of a repeat.
          expect(intent).toMatchObject({ number: failedReads, knownTo: 0, isResend: false });
          return (failedReads <= 8 ? service.unreachable : service.activities).createPayout(input);
        },
      });
      expect(result.payout_status).toBe("completed");
      expect(await service.requests("createPayout")).toBe(1);
    });
  });

  it("waits while sends are paused", async () => {
    const paused = await startService({ settleAfter: 0 }, {}, {});
    try {
      await withWorker(rig, paused.activities, async ({ start, taskQueue }) => {
        const { client } = rig.environment;
        const pause = await client.workflow.start(pauseSends, {
          taskQueue,
          workflowId: pauseId(taskQueue),
          memo: { why: "a bad file", by: "Ada" },
        });
        const handle = await start(payout, [payoutInput]);
        await rig.environment.sleep("5 minutes");
        const { stage, steps } = await handle.query(progressQuery);
        expect(stage).toBe("createBeneficiary");
        expect(steps.at(-1)?.note).toMatch(/Sends are paused since .* by Ada: a bad file/);
        expect(await paused.requests("createBeneficiary")).toBe(0);
        await pause.terminate();
        expect(await handle.result()).toMatchObject({ payout_status: "completed" });
        expect((await handle.fetchHistory()).events?.length).toBeLessThan(60);
      });
    } finally {
      await paused.stop();
    }
  });

  describe("a payout without an answer", () => {
    it("is found by its key, and not sent again", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
      const { result } = await pay();
      const { payouts } = await service.simulator.state();
      expect(payouts).toMatchObject([{ payout_id: result.payout_id, payout_status: "completed" }]);
      expect(await service.requests("createPayout")).toBe(1);
    });

    it("is sent again, once and with the same key, when it is certain that it is absent", async () => {
      await service.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
      const keys: Array<string | undefined> = [];
      const intents: Array<SendIntent | undefined> = [];
      const { audit, handle } = await pay({
        createPayout: (input, intent) => {
          keys.push(input.unique_request_id);
          intents.push(intent);
          return service.activities.createPayout(input, intent);
        },
      });
      expect(intents).toEqual([
        { step: "createPayout", number: 1, knownTo: 0, isResend: false },
        { step: "createPayout", number: 2, knownTo: 1, isResend: true },
      ]);
      expect(await service.requests("createPayout")).toBe(2);
      expect(new Set(keys).size).toBe(1);
      const { payouts } = await service.simulator.state();
      expect(payouts.map(({ unique_request_id }) => unique_request_id)).toEqual([keys[0]]);
      const [first, second] = audit
        .filter(({ step, what }) => step === "createPayout" && what === "sending")
        .map(({ at }) => Date.parse(at));
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(60_000);
      expect((await handle.fetchHistory()).events?.length).toBeLessThan(100);
    });

    it("is not sent again while the list lags", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
      const { findPayouts } = reconciliationIn(service.simulator);
      let polls = 0;
      await pay({
        findPayouts: async (sent) => {
          polls += 1;
          const matches = await findPayouts(sent);
          return polls < 4 ? { ...matches, items: [], matches: [] } : matches;
        },
      });
      expect(polls).toBe(4);
      expect(await service.requests("createPayout")).toBe(1);
    });

    it("is reconciled when the worker was lost between the send and its answer", async () => {
      const { result } = await pay({
        createPayout: async (input) => {
          const { attempt } = Context.current().info;
          const sent = await service.activities.createPayout(input);
          // As Temporal sees a worker that died: the attempt brings nothing, and there is another.
          if (attempt === 1) throw new Error("the worker was lost");
          return sent;
        },
      });
      const { payouts } = await service.simulator.state();
      expect(payouts.map(({ payout_id }) => payout_id)).toEqual([result.payout_id]);
      expect(await service.requests("createPayout")).toBe(1);
    });

    it("that the service refuses when it is sent again is left to a person", async () => {
      await service.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
      await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
      await withWorker(rig, activities(), async ({ start }) => {
        const handle = await start(payout, [payoutInput]);
        await rig.environment.sleep("10 minutes");
        const { attention } = await handle.query(progressQuery);
        expect(attention?.reason).toContain("An earlier send got no answer");
        await handle.terminate();
      });
    });
  });

  describe("that the journal knows of an earlier run of the same id", () => {
    it("is taken from there, and not sent again", async () => {
      const workflowId = randomUUID();
      await withWorker(rig, activities(), async ({ start }) => {
        const first = await (await start(payout, [payoutInput], workflowId)).result();
        const second = await (await start(payout, [payoutInput], workflowId)).result();
        expect(second.payout_id).toBe(first.payout_id);
      });
      expect(await service.requests("createPayout")).toBe(1);
    });

    it("is reconciled first where its answer was lost", async () => {
      const workflowId = randomUUID();
      await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
      await withWorker(rig, activities(), async ({ start }) => {
        const lost = await start(payout, [payoutInput], workflowId);
        await rig.environment.sleep("1 second");
        await lost.terminate();
        expect(await service.requests("createPayout")).toBe(1);
        await (await start(payout, [payoutInput], workflowId)).result();
      });
      expect((await service.simulator.state()).payouts).toHaveLength(1);
      expect(await service.requests("createPayout")).toBe(1);
    });

    it("is left to a person where it was another request", async () => {
      const workflowId = randomUUID();
      await withWorker(rig, activities(), async ({ start }) => {
        await (await start(payout, [payoutInput], workflowId)).result();
        const [made] = (await service.simulator.state()).beneficiaries;
        const { beneficiary_id } = made!;
        const { beneficiary: _, ...input } = payoutInput;
        const other = { ...input, beneficiary_id, payout: { ...input.payout, amount: "999.00" } };
        const handle = await start(payout, [other], workflowId);
        await rig.environment.sleep("1 minute");
        expect((await handle.query(progressQuery)).attention?.reason).toContain("another request");
        await handle.terminate();
      });
      expect((await service.simulator.state()).payouts).toHaveLength(1);
    });
  });

  describe("that the journal knows of an earlier run of the same id, with another request", () => {
    type Use = (
      handle: WorkflowHandle<typeof payout>,
      attention: NonNullable<Progress["attention"]>,
    ) => Promise<void>;

    /** The answer to 64.20 was lost; a run that knows nothing of it means to send 46.20. */
    const forgotten = async (fault: "dropped" | "dropped-before", use: Use) => {
      const workflowId = randomUUID();
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const paying = (amount: string, payout_reference: string) => ({
        beneficiary_id,
        payout: { ...payoutInput.payout, amount, payout_reference },
      });
      await service.simulator.addFault({ kind: fault, operation: "createPayout" });
      // The server that skips time lists no runs.
      const findOwners = async () => ({});
      await withWorker(rig, activities({ findOwners }), async ({ start }) => {
        const lost = await start(payout, [paying("64.20", "f3")], workflowId);
        await rig.environment.sleep("1 second");
        await lost.terminate();
        const handle = await start(payout, [paying("46.20", "f3-other")], workflowId);
        await rig.environment.sleep("1 hour");
        const { attention } = await handle.query(progressQuery);
        await use(handle, attention!);
      });
    };

    it("shows what was sent, and what would be sent", async () => {
      await forgotten("dropped-before", async (handle, attention) => {
        const { candidates, reason, sent, toSend } = attention;
        expect(sent).toEqual({
          amount: "64.20",
          currency: "USD",
          sent_at: anyText,
          unique_request_id: anyText,
          outcome: "nobody knows whether it was carried out",
        });
        expect(toSend).toMatchObject({ amount: "46.20", payout_reference: "f3-other" });
        expect(reason).toMatch(/another request than this one: 64\.20 USD on 2/);
        expect(attention.consequences.resend).toBe(
          "sends 46.20 USD beside what was sent before (64.20 USD): pays both if that was carried out",
        );
        expect(candidates).toEqual([]);
        await handle.cancel();
        // What is in doubt is what was sent.
        const failure = await failureOf(handle.result());
        expect(failure).toMatchObject({
          type: "EndedInDoubt",
          details: [{ inDoubt: [{ step: "createPayout", amount: "64.20", currency: "USD" }] }],
        });
      });
    });

    it("searches for what was sent by its key, and shows what it moves", async () => {
      await forgotten("dropped", async (handle, { actions, candidates, reason, sent }) => {
        const [made] = (await service.simulator.state()).payouts;
        const { payout_id = "" } = made ?? {};
        expect(reason).toContain("It is listed: it was carried out.");
        expect(sent).toMatchObject({ amount: "64.20" });
        expect(candidates).toMatchObject([{ payout_id, amount: "64.20" }]);
        expect(actions).toEqual(["found", "abandon"]);
        await decide(handle, { by: "Ada", found: { payout_id } });
        expect(await handle.result()).toMatchObject({ payout_id, amount: "64.20" });
      });
    });

    it("is found by the key of what it takes over, where that is another one", async () => {
      const workflowId = randomUUID();
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const paying = (amount: string): PayoutInput => ({
        beneficiary_id,
        payout: { ...payoutInput.payout, amount },
        options: { onRefusal: "ask" },
      });
      await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
      await withWorker(rig, activities({ findOwners: async () => ({}) }), async ({ start }) => {
        const lost = await start(payout, [paying("46.20")], workflowId);
        await rig.environment.sleep("1 second");
        // What was refused was not carried out: what is amended has another key.
        await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
        await decide(lost, { by: "Ada", amend: { payout: { amount: "64.20" } } });
        await rig.environment.sleep("1 second");
        await lost.terminate();
        const handle = await start(payout, [paying("46.20")], workflowId);
        await rig.environment.sleep("1 hour");
        const [made] = (await service.simulator.state()).payouts;
        const { payout_id = "", unique_request_id = "" } = made ?? {};
        await decide(handle, { by: "Ada", found: { payout_id } });
        expect(await handle.result()).toMatchObject({ payout_id, amount: "64.20" });
        const { typedSearchAttributes } = await handle.describe();
        expect(typedSearchAttributes.get(PAYMENT_IDS)).toContain(unique_request_id);
      });
    });

    it("does not forget it where a person has this one sent beside", async () => {
      await forgotten("dropped-before", async (handle, { sent }) => {
        await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
        await decide(handle, { by: "Ada", resend: true });
        expect(await handle.result()).toMatchObject({ amount: "46.20" });
        const { payouts } = await service.simulator.state();
        expect(payouts).toMatchObject([{ amount: "46.20" }]);
        // The service would take it for a repeat.
        expect(payouts[0]?.unique_request_id).not.toBe(sent["unique_request_id"]);
        const { notes } = await handle.query(progressQuery);
        expect(notes.join()).toContain("64.20 USD");
        const { typedSearchAttributes } = await handle.describe();
        expect(typedSearchAttributes.get(PAYMENT_IN_DOUBT)).toBe("createPayout");
      });
    });

    it("issues a card for another cardholder under another key: the service would answer with the first", async () => {
      const workflowId = randomUUID();
      const cardholder = () => service.client.createCardholder(onboardInput.cardholder);
      const [first, second] = [await cardholder(), await cardholder()];
      const { card } = onboardInput;
      await service.simulator.addFault({ kind: "dropped", operation: "createCard" });
      const repeats = { kind: "repeated-key-first", operation: "createCard", times: 5 } as const;
      await withWorker(rig, activities({ findOwners: async () => ({}) }), async ({ start }) => {
        const { card_holder_id } = first;
        const lost = await start(onboardCardholder, [{ card_holder_id, card }], workflowId);
        await rig.environment.sleep("1 second");
        await lost.terminate();
        await service.simulator.addFault(repeats);
        const other = { card_holder_id: second.card_holder_id, card };
        const handle = await start(onboardCardholder, [other], workflowId);
        await rig.environment.sleep("1 hour");
        expect((await handle.query(progressQuery)).attention?.reason).toContain("another request");
        await decide(handle, { by: "Ada", resend: true });
        const { card_id } = await handle.result();
        const { cards } = await service.simulator.state();
        expect(cards).toHaveLength(2);
        expect(cards.find((each) => each.card_id === card_id)).toMatchObject({
          card_holder_id: second.card_holder_id,
        });
      });
    });

    it("names it alone as in doubt where the one that was sent beside is refused", async () => {
      await forgotten("dropped-before", async (handle) => {
        await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
        await decide(handle, { by: "Ada", resend: true });
        const failure = await failureOf(handle.result());
        expect(failure).toMatchObject({
          type: "EndedInDoubt",
          details: [{ inDoubt: [{ step: "createPayout", amount: "64.20" }] }],
        });
        expect(failure.message).not.toContain("46.20");
      });
    });
  });

  it("that the service refuses fails the run with the service's words, and is not sent again", async () => {
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await withWorker(rig, activities(), async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      const failure = await failureOf(handle.result());
      expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
      expect(failure.message).toContain("Refused on demand");
    });
    expect(await service.requests("createPayout")).toBe(1);
  });

  describe("a beneficiary without an answer", () => {
    it("is created again, and the run says so", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createBeneficiary" });
      const { progress } = await pay();
      expect((await service.simulator.state()).beneficiaries).toHaveLength(2);
      expect(progress.notes.join()).toContain("createBeneficiary: 1 of its answers lost");
      expect((await service.simulator.state()).payouts).toHaveLength(1);
    });

    it("is left to a person where the run is to ask", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createBeneficiary" });
      await withWorker(rig, activities(), async ({ start }) => {
        const handle = await start(payout, [
          { ...payoutInput, options: { onLostBeneficiary: "ask" } },
        ]);
        await rig.environment.sleep("1 minute");
        expect((await handle.query(progressQuery)).attention).toMatchObject({
          step: "createBeneficiary",
          idsWanted: ["beneficiary_id"],
        });
        await handle.terminate();
      });
      expect((await service.simulator.state()).beneficiaries).toHaveLength(1);
    });
  });

  describe("a cardholder without an answer", () => {
    it("is found in the list, and not created again", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createCardholder" });
      await withWorker(rig, activities(), async ({ start }) => {
        const { card_holder_id } = await (await start(onboardCardholder, [onboardInput])).result();
        const { cardholders, cards } = await service.simulator.state();
        expect(cardholders.map((each) => each.card_holder_id)).toEqual([card_holder_id]);
        expect(cards).toHaveLength(1);
      });
    });

    it("is not taken from another run whose ownership shows only later", async () => {
      await service.simulator.addFault({ kind: "html-502", operation: "createCardholder" });
      const another = { card_holder_id: "another", card_holder_status: "PENDING" };
      let polls = 0;
      const findCardholders: PaymentsActivities["findCardholders"] = async () => {
        polls += 1;
        const owner = polls === 1 ? undefined : "another-run";
        return foundBy([another], [{ id: "another", isOurs: false, isExact: true, owner }]);
      };
      await withWorker(rig, activities({ findCardholders }), async ({ start }) => {
        const { card_holder_id } = await (await start(onboardCardholder, [onboardInput])).result();
        const { cardholders } = await service.simulator.state();
        expect(cardholders.map((each) => each.card_holder_id)).toEqual([card_holder_id]);
      });
    });
  });

  describe("a card without an answer", () => {
    const onboard = () =>
      withWorker(rig, activities(), async ({ start }) => {
        const handle = await start(onboardCardholder, [onboardInput]);
        return { result: await handle.result(), progress: await handle.query(progressQuery) };
      });

    it("is asked for again with the same key, and is one card", async () => {
      await service.simulator.addFault({ kind: "dropped", operation: "createCard" });
      const { result } = await onboard();
      const { balances, cards } = await service.simulator.state();
      expect(cards.map(({ card_id }) => card_id)).toEqual([result.card_id]);
      expect(await service.requests("createCard")).toBe(2);
      expect(balances.find(({ currency }) => currency === "USD")?.available_balance).toBe(
        "99900.00",
      );
    });

    it.each(["repeated-key-empty", "repeated-key-refusal"] as const)(
      "is left to a person where the repeat is answered without it (%s)",
      async (kind) => {
        await service.simulator.addFault({ kind: "dropped", operation: "createCard" });
        await service.simulator.addFault({ kind, operation: "createCard" });
        await withWorker(rig, activities(), async ({ start }) => {
          const handle = await start(onboardCardholder, [onboardInput]);
          await rig.environment.sleep("10 minutes");
          expect((await handle.query(progressQuery)).attention).toMatchObject({
            step: "issueCard",
            idsWanted: ["card_id"],
          });
          await handle.terminate();
        });
        expect((await service.simulator.state()).cards).toHaveLength(1);
      },
    );
  });
});
