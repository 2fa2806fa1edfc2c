import { requestTerms } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { describe, expect, it } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;
type World = Awaited<ReturnType<typeof makeWorld>>;

/** A payout to a beneficiary that the service knows. */
const payable = async (world: World) => {
  const made = await world.once({
    operation: "createBeneficiary",
    request: beneficiary,
    step: "b",
  });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  const request = { ...payout, beneficiary_id: String(made.made["beneficiary_id"]) };
  return { operation: "createPayout", request };
};
const payoutsOf = async ({ simulator }: World) => (await simulator.state()).payouts.length;

describe("approval", () => {
  const start = (world: World, workflowId: string, by: string) =>
    world.ledger.recordStart(
      {
        account: world.account,
        workflowId,
        runId: null,
        type: "payout",
        batch: null,
        batchRow: null,
        amount: null,
        currency: null,
        payee: null,
        reference: null,
      },
      { by, how: "test", value: { type: "payout", content: "c", firstRunId: "run-1" } },
    );
  const asking = async (
    world: World,
    given: Parameters<World["once"]>[1] = {},
    rootId = "pay-1",
  ) => {
    const task = { ...(await payable(world)), approveAbove: "100", rootId };
    const asked = await world.once(task, { workflowId: "pay-1", ...given });
    if (asked.is !== "waiting") throw new Error("not asked");
    const { generation = 0, question, request } = (await world.row("createPayout")) ?? {};
    await world.ledger.decide({
      account: world.account,
      workflowId: "pay-1",
      step: "createPayout",
      kind: "approve",
      question: question?.id ?? "",
      by: "bob",
      how: "terminal",
      reason: null,
      value: { generation, terms: request?.terms ?? "", account: question?.account ?? null },
    });
    const again = async (more: Parameters<World["once"]>[1] = {}) => {
      const { version = 0 } = (await world.row("createPayout")) ?? {};
      const testimony = { is: "version", version } as const;
      return world.once(
        { ...task, call: 2 },
        { workflowId: "pay-1", ...given, testimony, ...more },
      );
    };
    return { asked, again };
  };

  it("is asked for with the payee's account, and covers what was shown", async () => {
    const world = await makeWorld();
    await start(world, "pay-1", "ada");
    const { again, asked } = await asking(world);
    expect(asked).toMatchObject({ is: "waiting", needs: "approval" });
    expect(asked.why).toContain("account ending in");
    const { payee, shown } = (await world.ledger.payees()).find((one) => one.shown) ?? {};
    expect([payee, shown]).toEqual([
      (await world.row("createPayout"))?.request.payee,
      expect.stringContaining("account ending in"),
    ]);
    expect(await payoutsOf(world)).toBe(0);
    expect(await again()).toMatchObject({ is: "done" });
  });

  it("is asked of nobody for a payee that the service does not know: the step is refused at once", async () => {
    const world = await makeWorld();
    await start(world, "pay-1", "ada");
    const request = { ...payout, beneficiary_id: "b-unknown" };
    const task = { operation: "createPayout", request, approveAbove: "100", rootId: "pay-1" };
    expect(await world.once(task)).toEqual({
      is: "fail",
      type: "Refused",
      message: "Nothing was sent. The service does not know the beneficiary b-unknown.",
    });
    // As without an approval.
    const { approveAbove: _above, ...unapproved } = task;
    expect(await world.once(unapproved, { workflowId: "pay-2" })).toMatchObject({
      is: "fail",
      type: "Refused",
    });
  });

  it("waits for a service that cannot show the payee now", async () => {
    const world = await makeWorld();
    await start(world, "pay-1", "ada");
    const task = { ...(await payable(world)), approveAbove: "100", rootId: "pay-1" };
    await world.outage.set("503");
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    await world.outage.set("up");
    expect(await world.once(task)).toMatchObject({ is: "waiting", needs: "approval" });
  });

  it("counts the start of a root only if Temporal says that it is the root", async () => {
    const world = await makeWorld();
    await start(world, "order-1", "ada");
    const { again } = await asking(
      world,
      { root: async () => ({ id: "pay-1", firstRunId: "run-1" }) },
      "order-1",
    );
    expect(await again()).toMatchObject({ is: "waiting", needs: "approval" });
    expect(await payoutsOf(world)).toBe(0);
    expect(
      await again({ root: async () => ({ id: "order-1", firstRunId: "run-1" }) }),
    ).toMatchObject({
      is: "done",
    });
  });

  it("asks Temporal for no root if nobody has to approve", async () => {
    const world = await makeWorld();
    const task = { ...(await payable(world)), rootId: "order-1" };
    const root = () => Promise.reject(new Error("asked"));
    expect(await world.once(task, { workflowId: "pay-1", root })).toMatchObject({ is: "done" });
  });

  it.each([
    ["the person and the limit that were approved", "ada", "100.00", { is: "done" }],
    ["another person", "eve", "100.00", { is: "fail", type: "Refused" }],
    ["another limit", "ada", "100.01", { is: "fail", type: "Refused" }],
  ] as const)("of a row of a file issues a card for %s", async (_, who, card_limit, outcome) => {
    const world = await makeWorld();
    const create = async (step: string, email: string, first_name: string) => {
      const request = { ...inputs.cardholder, email, first_name };
      const made = await world.once({ operation: "createCardholder", request, step });
      if (made.is !== "done") throw new Error(JSON.stringify(made));
      const card_holder_id = String(made.made["card_holder_id"]);
      await world.simulator.setVerification(card_holder_id, "SUCCESS");
      return { card_holder_id, mark: (await world.row(step))?.request.payee ?? "" };
    };
    const ada = await create("ada", "ada@example.com", "Ada");
    const eve = await create("eve", "eve@example.com", "Eve");
    const { balances } = await world.simulator.state();
    const balance_id = balances.find(({ currency }) => currency === "USD")?.balance_id ?? "";
    const terms = requestTerms("createCard", inputs.card);
    const own = { account: world.account, workflowId: "pay-1" };
    const run = { ...own, runId: null, type: "onboardCardholder", batch: null, batchRow: null };
    const planned = { amount: "100.00", currency: "USD", payee: ada.mark, reference: null };
    const value = { type: "onboardCardholder", content: "c", terms, payee: ada.mark };
    await world.ledger.recordStart(
      { ...run, ...planned },
      { by: "ada", how: "test", value: { ...value, needsApproval: true } },
    );
    await world.ledger.decide({
      ...own,
      step: "createCard",
      kind: "approve",
      question: "the file",
      by: "bob",
      how: "terminal",
      reason: null,
      value: { generation: 1, terms, account: ada.mark },
    });
    const { card_holder_id } = { ada, eve }[who];
    const request = { ...inputs.card, card_limit, card_holder_id, balance_id };
    const task = { operation: "createCard", request, rootId: "pay-1" };
    expect(await world.once(task, { workflowId: "pay-1" })).toMatchObject(outcome);
    const { cards } = await world.simulator.state();
    expect(cards).toHaveLength(outcome.is === "done" ? 1 : 0);
  });
});
