import {
  auditQuery,
  PAYMENT_IDS,
  PAYMENT_STAGE,
  type PayoutInput,
  progressQuery,
  type Resolution,
  resolveUpdate,
} from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import { type WorkflowHandle, WorkflowUpdateFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, it, vi } from "vitest";
import { payout } from "../src/index.ts";
import { createTwoAtOnce } from "./support/create-two-at-once.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { reconciliationIn } from "./support/reconciliation.ts";
import { localRig, type Queue, timeSkippingRig, withWorker } from "./support/rig.ts";
import { startService } from "./support/service.ts";
import { untilAsked, WITHIN } from "./support/until.ts";

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;

/** What the Web UI shows of a run: asked by a query, and no event of its history. */
const detailsOf = async (handle: WorkflowHandle): Promise<string> => {
  const { currentDetails } = await handle.query<{ readonly currentDetails: string }>(
    "__temporal_workflow_metadata",
  );
  return currentDetails;
};

// On a real server: the one that skips time loses updates when the machine is busy.
describe("a person", () => {
  const rig = useRig(localRig);

  describe("whom a run asks", () => {
    // The service shows no keys, and another run may have made the same: nobody but a person can know.
    const service = useService({ settleAfter: 0, echoPayoutKey: false });

    type Handle = Awaited<ReturnType<typeof beginPayout>>;
    const beginPayout = async ({ start }: Queue, input: PayoutInput = payoutInput) => {
      const handle = await start(payout, [input]);
      await untilAsked(handle);
      return handle;
    };

    const withAttention = (
      use: (handle: Handle, queue: Queue) => Promise<void>,
      fault: "dropped" | "dropped-before" = "dropped",
    ) =>
      withWorker(
        rig,
        {
          ...service.activities,
          ...reconciliationIn(
            service.simulator,
            {
              concurrentRuns: ["another run"],
              requestTimeoutMs: 0,
              listLagMs: 0,
              visibilityLagMs: 0,
            },
            { showsKeys: false },
          ),
        },
        async (queue) => {
          // A payout alike, of nobody that Temporal knows.
          const other = await queue.start(payout, [payoutInput]);
          await other.result();
          await service.simulator.addFault({ kind: fault, operation: "createPayout" });
          const [known] = (await service.simulator.state()).beneficiaries;
          const { beneficiary: _, ...rest } = payoutInput;
          await use(
            await beginPayout(queue, { ...rest, beneficiary_id: known!.beneficiary_id }),
            queue,
          );
        },
      );

    const questionOf = async (handle: WorkflowHandle): Promise<string> =>
      (await handle.query(progressQuery)).attention?.question ?? "";

    const send = (handle: WorkflowHandle, resolution: unknown) =>
      // What comes from outside may be anything.
      handle.executeUpdate(resolveUpdate, { args: [resolution as Resolution] });

    /** Answers what is asked now. */
    const resolve = async (handle: WorkflowHandle, resolution: unknown) => {
      const question = await questionOf(handle);
      return send(
        handle,
        typeof resolution === "object" ? { question, ...resolution } : resolution,
      );
    };

    const rejectionOf = async (handle: WorkflowHandle, resolution: unknown): Promise<string> => {
      const error: unknown = await resolve(handle, resolution).then(
        () => new Error("It was taken."),
        (thrown: unknown) => thrown,
      );
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
        expect(error.cause.type).toBe("InvalidResolution");
        return error.cause.message;
      }
      throw error;
    };

    it("says what is known, what was sent and what can be done, and stands so in the index", async () => {
      await withAttention(async (handle) => {
        const { attention, stage, steps } = await handle.query(progressQuery);
        expect(stage).toBe("needsAttention");
        expect(steps.at(-1)).toMatchObject({ name: "createPayout", status: "needsAttention" });
        const { payouts } = await service.simulator.state();
        expect(attention).toMatchObject({
          step: "createPayout",
          sent: { amount: "250.00", currency: "USD", payout_reference: "Invoice 1" },
          actions: ["found", "resend", "abandon"],
          idsWanted: ["payout_id"],
        });
        expect(attention?.reason).toContain("2 are listed that may be it");
        expect(attention?.candidates.map((candidate) => candidate["payout_id"]).toSorted()).toEqual(
          payouts.map(({ payout_id }) => payout_id).toSorted(),
        );
        expect(attention?.listRead?.times).toBeGreaterThan(0);
        expect(attention?.consequences).toMatchObject({
          found: "the run goes on with that payout, nothing is sent",
          resend: "sends it again: pays twice if it was carried out",
        });
        expect(await detailsOf(handle)).toContain(
          [
            `starter resolve ${handle.workflowId}`,
            `--run-id ${(await handle.describe()).runId}`,
            `--question ${attention?.question}`,
            "--by NAME",
            "--found payout_id=ID",
          ].join(" \\\n  "),
        );
        const { typedSearchAttributes } = await handle.describe();
        expect(typedSearchAttributes.get(PAYMENT_STAGE)).toBe("needsAttention");
        expect(typedSearchAttributes.get(PAYMENT_IDS)).not.toEqual([]);
        await handle.terminate();
      });
    });

    it("takes no decision that does not fit, and says why", async () => {
      await withAttention(async (handle) => {
        const wrong: ReadonlyArray<readonly [unknown, string]> = [
          [undefined, "Give the name of who decides (by)."],
          ["resend", "Give the name of who decides (by)."],
          [{ resend: true }, "Give the name of who decides (by)."],
          [{ by: " ", resend: true }, "Give the name of who decides (by)."],
          [{ by: "Ada" }, "Give exactly one of found, resend, abandon."],
          [
            { by: "Ada", resend: true, abandon: "no" },
            "Give exactly one of found, resend, abandon.",
          ],
          [{ by: "Ada", amend: { amount: "1" } }, "Give exactly one of found, resend, abandon."],
          [{ by: "Ada", resend: false }, "resend must be true."],
          [{ by: "Ada", abandon: "" }, "abandon must say why."],
          [{ by: "Ada", found: {} }, "found must give payout_id."],
          [{ by: "Ada", found: "p-1" }, "found must give payout_id."],
          [{ by: "Ada", found: { payout_id: 1 } }, "found must give payout_id."],
        ];
        for (const [resolution, message] of wrong) {
          expect(await rejectionOf(handle, resolution)).toBe(message);
        }
        expect((await handle.query(progressQuery)).stage).toBe("needsAttention");
        await handle.terminate();
      });
    });

    it.each([{ resend: true }, { abandon: "no" }, { found: { payout_id: "p-1" } }])(
      "takes a resolution of the human task that was read, and to no other: %o",
      async (decision) => {
        await withAttention(async (handle) => {
          const read = await questionOf(handle);
          expect(read).toMatch(/^1-[0-9a-f]{8}$/);
          // Two people have read it; what the first has sent again is lost as well.
          await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
          await send(handle, { by: "Ada", question: read, resend: true });
          await vi.waitFor(async () => expect(await questionOf(handle)).toMatch(/^2-/), {
            timeout: 120_000,
            interval: 50,
          });
          const now = await questionOf(handle);
          const { payouts } = await service.simulator.state();
          for (const question of [read, undefined, "", 2, `${now} `]) {
            const message = await rejectionOf(handle, { by: "Bob", question, ...decision });
            expect(message).toContain(`read the one that is open now (${now}).`);
          }
          expect(await rejectionOf(handle, { by: "Bob", question: read, ...decision })).toBe(
            `This resolves an earlier human task (${read}): read the one that is open now (${now}).`,
          );
          expect((await service.simulator.state()).payouts).toHaveLength(payouts.length);
          await handle.terminate();
        });
      },
    );

    it("is asked anew, by another human task, by a run that was reset", async () => {
      await withAttention(async (handle) => {
        const read = await questionOf(handle);
        const { workflowId } = handle;
        const { events } = await handle.fetchHistory();
        const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
        await rig.environment.client.workflowService.resetWorkflowExecution({
          namespace: "default",
          requestId: workflowId,
          reason: "as an operator would",
          workflowExecution: { workflowId },
          workflowTaskFinishEventId: first?.eventId ?? null,
        });
        // As it learns of its reset; it takes up the send that the journal has.
        const instruction = {
          by: "Bob",
          reason: "",
          from: "",
          fields: [],
          amendedBy: [],
          sent: {},
        };
        rig.activities = {
          ...rig.activities,
          readRetryInstruction: async () => ({
            runId: Context.current().info.workflowExecution?.runId ?? "",
            instruction,
            isOutdated: false,
          }),
        };
        const anew = rig.environment.client.workflow.getHandle(workflowId);
        await untilAsked(anew);
        expect(await questionOf(anew)).not.toBe(read);
        expect(await rejectionOf(anew, { by: "Ada", question: read, resend: true })).toContain(
          "earlier human task",
        );
        await anew.terminate();
      });
    });

    it("resolves one of two human tasks that a run has at once, and then the other", async () => {
      const createPayout = async (): Promise<never> => {
        throw ApplicationFailure.create({ type: "Refused", message: "no", nonRetryable: true });
      };
      let isRefusing = true;
      const changes = {
        ...service.activities,
        ...reconciliationIn(service.simulator),
        createPayout: (...args: Parameters<typeof service.activities.createPayout>) =>
          isRefusing ? createPayout() : service.activities.createPayout(...args),
      };
      await withWorker(rig, changes, async ({ start }) => {
        const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
        const payment = { ...payoutInput.payout, beneficiary_id };
        const handle = await start(createTwoAtOnce, [
          payment,
          { ...payment, amount: "75.00" },
          { onRefusal: "ask" },
        ]);
        const inSteps = async () => (await handle.query(progressQuery)).steps;
        const until = (isSo: () => Promise<void>) =>
          vi.waitFor(isSo, { timeout: 120_000, interval: 50 });
        await until(async () =>
          expect(await inSteps()).toMatchObject([
            { status: "needsAttention" },
            { status: "needsAttention" },
          ]),
        );
        isRefusing = false;
        const first = (await handle.query(progressQuery)).attention?.step;
        await decide(handle, { by: "Ada", resend: true });
        await until(async () =>
          expect((await inSteps()).map(({ name, status }) => [name === first, status])).toEqual(
            expect.arrayContaining([
              [true, "done"],
              [false, "needsAttention"],
            ]),
          ),
        );
        const { attention, stage } = await handle.query(progressQuery);
        expect({ stage, isFirst: attention?.step === first }).toEqual({
          stage: "needsAttention",
          isFirst: false,
        });
        await decide(handle, { by: "Ada", abandon: "not this one" });
        await failureOf(handle.result());
      });
      expect((await service.simulator.state()).payouts).toHaveLength(1);
    });

    it("goes on with what was found, and keeps who decided", async () => {
      await withAttention(async (handle) => {
        const ours = (await service.simulator.state()).payouts.at(-1)!;
        await resolve(handle, { by: "Ada", found: { payout_id: ours.payout_id } });
        expect(await handle.result()).toMatchObject({ payout_id: ours.payout_id });
        const progress = await handle.query(progressQuery);
        expect(progress.attention).toBeUndefined();
        expect(await handle.query(auditQuery)).toContainEqual(
          expect.objectContaining({
            who: "Ada",
            step: "createPayout",
            what: "found",
            detail: { found: { payout_id: ours.payout_id } },
          }),
        );
      });
      expect((await service.simulator.state()).payouts).toHaveLength(2);
    });

    it("asks again when what was found is not there, or another payment", async () => {
      await withAttention(async (handle, queue) => {
        await resolve(handle, { by: "Ada", found: { payout_id: "mistyped" } });
        await untilAsked(handle, "Payout not found");
        const [known] = (await service.simulator.state()).beneficiaries;
        const other = await queue.start(payout, [
          {
            beneficiary_id: known!.beneficiary_id,
            payout: { ...payoutInput.payout, amount: "7.00" },
          },
        ]);
        const { payout_id } = await other.result();
        await resolve(handle, { by: "Ada", found: { payout_id } });
        await untilAsked(handle, "pays 7.00 USD");
        const ours = (await service.simulator.state()).payouts[1]!;
        await resolve(handle, { by: "Ada", found: { payout_id: ours.payout_id } });
        expect(await handle.result()).toMatchObject({ payout_id: ours.payout_id });
      });
    });

    it("takes what was found for one run alone, though two people say it at the same moment", async () => {
      await withAttention(async (handle, queue) => {
        const [known] = (await service.simulator.state()).beneficiaries;
        const { beneficiary: _, ...rest } = payoutInput;
        await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
        const other = await beginPayout(queue, { ...rest, beneficiary_id: known!.beneficiary_id });
        const { payout_id } = (await service.simulator.state()).payouts[1]!;
        const both = [handle, other];
        await Promise.all(both.map((each) => resolve(each, { by: "Ada", found: { payout_id } })));
        const result = (each: Handle) => each.result().then((done) => ({ each, done }));
        const { done, each: first } = await Promise.race(both.map(result));
        expect(done.payout_id).toBe(payout_id);
        const [second] = both.filter((each) => each !== first);
        await untilAsked(second!, `it belongs to ${first.workflowId}`);
        await second!.terminate();
      });
    });

    it("sends again when a person has made sure that it was not carried out", async () => {
      await withAttention(async (handle) => {
        await resolve(handle, { by: "Ada", resend: true });
        const { payout_id } = await handle.result();
        const { payouts } = await service.simulator.state();
        expect(payouts.map((each) => each.payout_id).at(-1)).toBe(payout_id);
        expect(payouts).toHaveLength(2);
      }, "dropped-before");
    });

    it("ends in doubt, abandoned with why, when a person says so", async () => {
      await withAttention(async (handle) => {
        await resolve(handle, { by: "Ada", abandon: "paid by hand" });
        const failure = await failureOf(handle.result());
        expect(failure).toMatchObject({
          type: "EndedInDoubt",
          cause: { type: "Abandoned", details: [{ by: "Ada", why: "paid by hand" }] },
        });
        expect(failure.message).toContain("paid by hand");
      });
    });

    it("can be cancelled, asks no more then, and says that it ended in doubt", async () => {
      await withAttention(async (handle) => {
        await handle.cancel();
        expect(await failureOf(handle.result())).toMatchObject({ type: "EndedInDoubt" });
        const { attention, stage } = await handle.query(progressQuery);
        expect(stage).toBe("failed");
        expect(attention).toBeUndefined();
      });
    });
  });

  describe("whom a refused run asks", () => {
    const service = useService({ settleAfter: 0, balances: { USD: "100.00" } });

    it("can be amended where the run asks, and nothing before it is done again", async () => {
      await withWorker(
        rig,
        { ...service.activities, ...reconciliationIn(service.simulator) },
        async ({ start }) => {
          const handle = await start(payout, [{ ...payoutInput, options: { onRefusal: "ask" } }]);
          await untilAsked(handle);
          const { attention } = await handle.query(progressQuery);
          expect(attention).toMatchObject({
            step: "createPayout",
            actions: ["amend", "resend", "abandon"],
          });
          expect(attention?.reason).toContain("Insufficient balance");
          const { question } = attention!;
          // Each is refused before it is taken: the same question stays open.
          for (const [amend, fault] of [
            [{}, 'amend must be an object of the shape of the input: {"payout": {…}}'],
            [{ amount: "1.00" }, 'amount is none of what createPayout sends: give {"payout": {…}}'],
            [{ payout: "1.00" }, "payout must be an object of the fields to change"],
            [{ payout: { amount: "-1" } }, "payout.amount"],
            [{ payout: { amuont: "1.00" } }, "payout.amuont"],
            [{ payout: { amount: null } }, "payout.amount"],
            [{ payout: { beneficiary_id: "b" } }, "payout.beneficiary_id belongs beside payout"],
            [{ payout: { unique_request_id: "k" } }, "payout.unique_request_id is filled in"],
          ] as const) {
            const resolution: Resolution = { by: "Ada", question, amend };
            await expect(
              handle.executeUpdate(resolveUpdate, { args: [resolution] }),
            ).rejects.toMatchObject({
              cause: {
                type: "InvalidResolution",
                message: expect.stringContaining(fault) as unknown,
              },
            });
          }
          expect((await handle.query(progressQuery)).attention?.question).toBe(question);
          await decide(handle, { by: "Ada", amend: { payout: { amount: "90.00" } } });
          const asNow = "Pay 90.00 USD to a new beneficiary, amended by Ada";
          await vi.waitFor(
            async () => expect((await detailsOf(handle)).replaceAll("\\", "")).toContain(asNow),
            WITHIN,
          );
          expect(await handle.result()).toMatchObject({
            amount: "90.00",
            payout_status: "completed",
          });
          const { beneficiaries, payouts } = await service.simulator.state();
          const ended = (await detailsOf(handle)).replaceAll("\\", "");
          expect(ended).toContain("### ✓ Completed");
          expect(ended).toContain(`payout ${payouts[0]?.payout_id} complete at `);
          expect(ended).not.toContain("A person has to decide");
          expect(beneficiaries).toHaveLength(1);
          expect(payouts).toHaveLength(1);
          const keys = (await handle.query(auditQuery)).flatMap(({ key, what }) =>
            what === "sending" ? [key] : [],
          );
          // The refused request keeps its key to itself.
          expect(new Set(keys.filter((key) => key !== undefined)).size).toBe(2);
        },
      );
    });
  });
});

describe.skipIf(!timeSkipping.available)(`a run that asks a person${skipped}`, () => {
  const rig = useRig(timeSkippingRig);

  it("waits for years, if it has to", async () => {
    const service = await startService({
      faults: [{ kind: "refusal-in-200", operation: "createPayout" }],
    });
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [{ ...payoutInput, options: { onRefusal: "ask" } }]);
      await rig.environment.sleep("800 days");
      expect((await handle.describe()).status.name).toBe("RUNNING");
      expect((await handle.query(progressQuery)).stage).toBe("needsAttention");
      await handle.terminate();
    }).finally(() => service.stop());
  });
});
