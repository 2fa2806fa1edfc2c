import { PAYMENT_IDS, type PayoutInput } from "@durable-payments/protocol";
import {
  beneficiary,
  card,
  cardholder,
  fields,
  holding,
  ID,
  listWith,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { describe, expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const {
  approvalHash,
  awaitStage,
  ended,
  file,
  found,
  progressOf,
  service,
  simulator,
  start,
  starter,
  starterProcess,
  temporal,
} = await makeRepairRig();
const { workflow } = temporal.client;

const PATIENCE = { timeout: 120_000, interval: 100 };

/** Each test pays an amount that no other test pays, to be found in the ledger. */
const paying = (amount: string, more: PayoutInput["options"] = {}): PayoutInput => ({
  beneficiary: { ...beneficiary, nickname: `Supplier ${amount}` },
  payout: { ...payout, amount, payout_reference: `Invoice ${amount}` },
  options: { ...options, ...more },
});

const paid = async (reference: string) => {
  const { payouts } = await simulator.state();
  return payouts.filter(({ payout_reference }) => payout_reference === `Invoice ${reference}`);
};

const requests = async (operation: string) => (await simulator.state()).requests[operation] ?? 0;

const retry = (id: string, ...more: ReadonlyArray<string>) =>
  starter(["runs", "retry", id, "--by", "Bob", ...more, "--json"]);

const approve = async (id: string, by: string) =>
  starter(["approve", id, "--by", by, "--hash", await approvalHash(id), "--json"]);

describe("a payout", () => {
  it("that was terminated while it was sent is reconciled, and paid once", async () => {
    await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
    const before = await requests("createPayout");
    await start("payout", "in doubt", paying("20.00"));
    await vi.waitFor(async () => expect(await requests("createPayout")).toBe(before + 1), PATIENCE);
    const terminated = await starter([
      "runs",
      "terminate",
      "in doubt",
      "--reason",
      "stuck",
      "--json",
    ]);
    expect(terminated.exitCode).toBe(0);
    expect(jsonOf(terminated)).toEqual({
      workflowId: "in doubt",
      runId: ID,
      status: "terminated",
      inDoubt: [
        {
          step: "createPayout",
          operation: "createPayout",
          amount: "20.00",
          currency: "EUR",
          key: ID,
          beneficiary_id: ID,
          payee: "Supplier 20.00",
          payout_reference: "Invoice 20.00",
        },
      ],
    });
    // What nobody knows is not amended.
    const amended = await retry(
      "in doubt",
      "--amend",
      await file("doubt.json", { payout: { amount: "19.00" } }),
    );
    expect(amended.exitCode).toBe(2);
    expect(jsonOf(amended)).toMatchObject({
      error: { faults: [{ field: "payout.amount", problem: holding("nobody knows") }] },
    });
    const retried = jsonOf(await retry("in doubt"));
    expect(retried["plan"]).toMatchObject({
      from: "createPayout",
      stays: ["createBeneficiary"],
      again: [{ name: "createPayout", note: holding("reconciled") }],
    });
    expect(await ended("in doubt")).toBe("COMPLETED");
    expect(await paid("20.00")).toHaveLength(1);
    expect(await requests("createPayout")).toBe(before + 1);
  });

  it("that ended in doubt is listed until a person has settled it, and a retry goes by that", async () => {
    await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
    await start("payout", "settled", paying("21.00"));
    await vi.waitFor(async () => expect(await paid("21.00")).toHaveLength(1), PATIENCE);
    await workflow.getHandle("settled").terminate("by the test");
    const inDoubt = async () => {
      const { inDoubt: runs } = jsonOf(await starter(["attention", "--json"]));
      return runs;
    };
    await vi.waitFor(async () => {
      expect(await inDoubt()).toEqual(
        listWith(
          fields({
            workflowId: "settled",
            inDoubt: [fields({ step: "createPayout", amount: "21.00", key: ID })],
          }),
        ),
      );
    }, PATIENCE);
    const listed = jsonOf(await starter(["runs", "list", "--in-doubt", "--json"]));
    expect(listed).toMatchObject({ runs: listWith(fields({ workflowId: "settled" })) });
    // The run alone shows it, too, and not that it is under way.
    expect(jsonOf(await starter(["status", "settled", "--json"]))).toMatchObject({
      pending: [],
      inDoubt: [{ step: "createPayout", amount: "21.00", key: ID }],
    });
    const status = await starter(["status", "settled"]);
    expect(status.stdout).toMatch(/In doubt\n {2}! createPayout: createPayout may have been/);
    expect(status.stdout).toMatch(
      /to\s+Supplier\s+21\.00,\s+beneficiary_id\s+\S+,\s+reference\s+"Invoice/,
    );
    expect(status.stdout).toMatch(/^ {2}\? createPayout/m);
    expect(status.stdout).toMatch(/settle settled \\\n\s+--run-id \S+ \\\n\s+--by NAME/);
    const person = await starter(["attention"]);
    expect(tooWide(person.stdout)).toEqual([]);
    expect(person.stdout).toMatch(/settle settled \\\n\s+--run-id \S+ \\\n\s+--by NAME/);
    expect(person.stdout).toContain("a retry sends it again, so that it is made twice if it was");

    const said = ["settle", "settled", "--by", "Ada", "--reason", "it is listed"];
    const settle = (...how: ReadonlyArray<string>) => starter([...said, "--json", ...how]);
    // A process of its own: one that is kept has read its settings before.
    const settleAtService = (payoutId: string) =>
      starterProcess([...said, "--json", "--found", `payout_id=${payoutId}`], { env: service });
    expect((await settle()).exitCode).toBe(2);
    expect((await settle("--found", "card_id=1")).stdout).toContain("must give payout_id");
    const [made] = await paid("21.00");
    await start("payout", "another", paying("23.00"));
    expect(await ended("another")).toBe("COMPLETED");
    const [ofAnother] = await paid("23.00");
    const taken = await settle("--found", `payout_id=${ofAnother?.payout_id}`);
    expect(taken.stdout).toContain("belongs to another");
    expect((await settle("--by", "", "--not-carried-out")).exitCode).toBe(2);
    // The service knows no such payout, or shows that it pays something else.
    const nonsense = await settleAtService("zzz");
    expect(nonsense.exitCode).toBe(2);
    expect(nonsense.stdout).toContain("The service does not show zzz");
    // A mistake can be corrected.
    expect((await settle("--not-carried-out")).exitCode).toBe(0);
    // Another run has a card of the same id, which is not the payout.
    const id = made?.payout_id ?? "";
    await workflow.start("payout", {
      taskQueue: "nobody-polls",
      workflowId: "has a card",
      typedSearchAttributes: [{ key: PAYMENT_IDS, value: [id, `card:${id}`] }],
    });
    await found(`PaymentIds = "card:${id}"`);
    const elsewhere = await starter([...said, "--found", `payout_id=${id}`]);
    expect(elsewhere.stdout.replaceAll(/\s+/g, " ")).toContain(
      "as settled by Ada, and not confirmed by the service: PAYMENTS_* is not set here",
    );
    const done = await settleAtService(id);
    expect(jsonOf(done)).toMatchObject({ status: "settled", step: "createPayout" });
    expect(jsonOf(done)).not.toHaveProperty("notConfirmed");
    expect(JSON.stringify(await inDoubt())).not.toContain('"settled"');
    const none = jsonOf(await starter(["runs", "list", "--in-doubt", "--json"]));
    expect(JSON.stringify(none)).not.toContain('"settled"');
    // What was in doubt, and what was found, is shown still.
    for (const command of [["status"], ["runs", "show"]]) {
      const [shown, seen] = await Promise.all([
        starter([...command, "settled", "--json"]),
        starter([...command, "settled"]),
      ]);
      expect(jsonOf(shown)).toMatchObject({
        settled: [{ step: "createPayout", by: "Ada", found: { payout_id: id } }],
      });
      expect(seen.stdout.replaceAll(/\s+/g, " ")).toContain(
        `Settled createPayout was carried out: payout_id ${id}; settled by Ada`,
      );
    }

    expect(jsonOf(await retry("settled"))).toMatchObject({
      plan: {
        again: [{ name: "createPayout", note: holding("as Ada says: the id is taken over") }],
      },
    });
    expect(await ended("settled")).toBe("COMPLETED");
    expect(await paid("21.00")).toHaveLength(1);
    const key = made?.unique_request_id ?? "";
    const byKey = await starter(["runs", "list", "--find", key, "--json"]);
    expect(jsonOf(byKey)).toMatchObject({
      runs: listWith(fields({ workflowId: "settled", state: "completed" })),
    });
    const { entries } = jsonOf(await starter(["audit", "settled", "--json"]));
    // What was corrected was said all the same.
    for (const what of ["settled: not carried out", "settled: carried out"]) {
      expect(entries).toEqual(listWith(fields({ who: "Ada", what, step: "createPayout" })));
    }
    // What the run knows by now is no person's to say.
    const known = await settle("--not-carried-out");
    expect(known.exitCode).toBe(2);
    expect(jsonOf(known)).toMatchObject({ error: { message: holding("knows what became") } });
    const { entries: since } = jsonOf(await starter(["audit", "settled", "--json"]));
    expect(since).toEqual(entries);
  });

  it("that people said to be the same for two runs is taken by one of them alone", async () => {
    const both = ["said 1", "said 2"];
    for (const id of both) {
      await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
      await start("payout", id, paying("31.50"));
    }
    await vi.waitFor(async () => expect(await paid("31.50")).toHaveLength(2), PATIENCE);
    const [first] = await paid("31.50");
    for (const id of both) {
      await workflow.getHandle(id).terminate("by the test");
      const found = ["--found", `payout_id=${first?.payout_id}`];
      const settled = await starter(["settle", id, "--by", "Ada", "--reason", "seen", ...found]);
      expect(settled.exitCode).toBe(0);
    }
    await Promise.all(both.map((id) => retry(id)));
    // The one that does not get it reads the list, and finds its own.
    const results = await Promise.all(
      both.map(async (id) => {
        expect(await ended(id)).toBe("COMPLETED");
        return (await workflow.getHandle(id).result()) as { readonly payout_id: string };
      }),
    );
    expect(results.map(({ payout_id }) => payout_id).toSorted()).toEqual(
      (await paid("31.50")).map(({ payout_id }) => payout_id).toSorted(),
    );
  });

  it("that a person reports as not carried out is sent again, and nobody is asked anew", async () => {
    await simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
    const before = await requests("createPayout");
    await start("payout", "never sent", paying("22.00"));
    await vi.waitFor(async () => expect(await requests("createPayout")).toBe(before + 1), PATIENCE);
    await workflow.getHandle("never sent").cancel();
    await workflow.getHandle("never sent").terminate("by the test");
    const said = ["--by", "Ada", "--reason", "not in the list", "--not-carried-out"];
    await vi.waitFor(
      async () => expect((await starter(["settle", "never sent", ...said])).exitCode).toBe(0),
      PATIENCE,
    );
    expect((await retry("never sent")).exitCode).toBe(0);
    expect(await ended("never sent")).toBe("COMPLETED");
    expect(await paid("22.00")).toHaveLength(1);
    expect(await requests("createPayout")).toBe(before + 2);
  });

  it("that is refused again and again is paid once, as it was amended last", async () => {
    const before = await requests("createBeneficiary");
    const refuse = () => simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await refuse();
    await start("payout", "again", paying("30.00"));
    expect(await ended("again")).toBe("FAILED");
    await refuse();
    const less = await file("less.json", { payout: { amount: "29.00" } });
    expect((await retry("again", "--amend", less)).exitCode).toBe(0);
    expect(await ended("again")).toBe("FAILED");
    // The amendment of the earlier retry holds on.
    const patch = await file("again.json", { payout: { payout_reason: "Services" } });
    expect((await retry("again", "--amend", patch)).exitCode).toBe(0);
    expect(await ended("again")).toBe("COMPLETED");
    const made = await paid("30.00");
    expect(made).toMatchObject([{ amount: "29.00", payout_reason: "Services" }]);
    expect(await requests("createBeneficiary")).toBe(before + 1);
  });

  it("that is refused, refused again as it is, and then amended is paid at once", async () => {
    const refuse = () => simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await refuse();
    await start("payout", "unchanged", paying("33.00"));
    expect(await ended("unchanged")).toBe("FAILED");
    await refuse();
    expect((await retry("unchanged")).exitCode).toBe(0);
    expect(await ended("unchanged")).toBe("FAILED");
    const less = await file("unchanged.json", { payout: { amount: "32.00" } });
    expect((await retry("unchanged", "--amend", less)).exitCode).toBe(0);
    expect(await ended("unchanged")).toBe("COMPLETED");
    expect(await paid("33.00")).toMatchObject([{ amount: "32.00" }]);
    // The journal has both sends as refused: nothing is in doubt, and the list is not read.
    const shown = await starter(["runs", "show", "unchanged", "--json"]);
    expect(shown.stdout).not.toContain("findPayouts");
  });

  it("keeps what a person amended in the run that failed", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await start("payout", "asked", paying("40.00", { onRefusal: "ask" }));
    const handle = workflow.getHandle("asked");
    await awaitStage("asked", "needsAttention");
    const asked = async () => (await progressOf("asked")).attention?.question;
    const question = await asked();
    const amend = { payout: { amount: "39.00" } };
    await handle.executeUpdate("resolve", { args: [{ by: "Ada", question, amend }] });
    await vi.waitFor(async () => {
      expect(await asked()).toMatch(/^2-/);
    }, PATIENCE);
    const abandon = { by: "Ada", question: await asked(), abandon: "later" };
    await handle.executeUpdate("resolve", { args: [abandon] });
    expect(await ended("asked")).toBe("FAILED");
    const retried = await retry("asked", "--overrule", "--reason", "meant to go on");
    expect(retried.exitCode).toBe(0);
    expect(await ended("asked")).toBe("COMPLETED");
    expect(await paid("40.00")).toMatchObject([{ amount: "39.00" }]);
  });

  it("is reset in the Web UI after a retry, and is still paid once", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await start("payout", "by hand", paying("45.00"));
    expect(await ended("by hand")).toBe("FAILED");
    const patch = await file("hand.json", { payout: { amount: "44.00" } });
    expect((await retry("by hand", "--amend", patch)).exitCode).toBe(0);
    expect(await ended("by hand")).toBe("COMPLETED");
    const { runId } = await workflow.getHandle("by hand").describe();
    const { events } = await workflow.getHandle("by hand", runId).fetchHistory();
    const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
    for (const task of [tasks.at(-1), tasks[0]]) {
      await temporal.client.workflowService.resetWorkflowExecution({
        namespace: "default",
        requestId: `by hand ${String(task?.eventId)}`,
        reason: "as an operator would",
        workflowExecution: { workflowId: "by hand", runId },
        workflowTaskFinishEventId: task?.eventId ?? null,
      });
      expect(await ended("by hand")).toBe("COMPLETED");
    }
    expect(await paid("45.00")).toMatchObject([{ amount: "44.00" }]);
  });
});

describe("a payout that a second person approved", () => {
  it("is not approved by who has not read it", async () => {
    // An account that no other test pays.
    const payee = { ...beneficiary, iban: "DE02120300000000202051" };
    const input = paying("49.00", { approval: { above: "25" } });
    await start("payout", "unread", { ...input, beneficiary: payee });
    await awaitStage("unread", "awaitApproval");
    await approvalHash("unread");
    const refused = await starter(["approve", "unread", "--by", "Eve"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/amount +49\.00/);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain("names are as given, not verified");
    expect(refused.stderr).toMatch(new RegExp(`iban +…${payee.iban.slice(-4)}`));
    expect(refused.stderr).not.toContain(payee.iban);
    expect(refused.stderr).toMatch(/Give --hash [0-9a-f-]{36}: there is nobody to ask/);
    expect(await paid("49.00")).toEqual([]);
    expect((await approve("unread", "Eve")).exitCode).toBe(0);
    expect(await ended("unread")).toBe("COMPLETED");
    const { steps } = jsonOf(await starter(["runs", "show", "unread", "--json"]));
    expect(steps).toContainEqual(
      expect.objectContaining({
        name: "awaitApproval",
        note: `pays ${payee.account_holder}, DE, ${payee.bank_name}, iban …${payee.iban.slice(-4)}; paid before: never, as the journal has it`,
      }),
    );
  });

  it("goes on without being approved again, where it is not amended", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createBeneficiary" });
    await start("payout", "approved", paying("50.00", { approval: { above: "25" } }));
    await awaitStage("approved", "awaitApproval");
    expect((await approve("approved", "Eve")).exitCode).toBe(0);
    expect(await ended("approved")).toBe("FAILED");
    expect((await retry("approved")).exitCode).toBe(0);
    expect(await ended("approved")).toBe("COMPLETED");
    expect(await paid("50.00")).toHaveLength(1);
  });

  it("is approved once more where it is, not by who amended it", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await start("payout", "amended", paying("60.00", { approval: { above: "25" } }));
    await awaitStage("amended", "awaitApproval");
    expect((await approve("amended", "Eve")).exitCode).toBe(0);
    expect(await ended("amended")).toBe("FAILED");
    const patch = await file("more.json", { payout: { amount: "70.00" } });
    expect((await retry("amended", "--amend", patch)).exitCode).toBe(0);
    await vi.waitFor(
      async () => expect((await progressOf("amended")).shown).toHaveProperty("approval"),
      PATIENCE,
    );
    expect(await paid("60.00")).toEqual([]);
    await vi.waitFor(async () => {
      const query = 'WorkflowId = "amended" AND PaymentStage = "awaitApproval"';
      expect((await workflow.count(query)).count).toBeGreaterThan(0);
    }, PATIENCE);
    const own = await approve("amended", "Bob");
    expect(own.exitCode).toBe(2);
    expect(own.stdout).toContain("Bob amended this payment");
    expect((await approve("amended", "Eve")).exitCode).toBe(0);
    expect(await ended("amended")).toBe("COMPLETED");
    expect(await paid("60.00")).toMatchObject([{ amount: "70.00" }]);
  });
});

describe("a payout that a person has ended", () => {
  it("is paid only where another person overrules that, and a third approves it", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const options = { approval: { above: "25" }, onRefusal: "ask" } as const;
    await start("payout", "fraud", paying("81.00", options));
    await awaitStage("fraud", "awaitApproval");
    expect((await approve("fraud", "Eve")).exitCode).toBe(0);
    await awaitStage("fraud", "needsAttention");
    const why = "fraud suspected, do not pay";
    const question = (await progressOf("fraud")).attention?.question ?? "";
    const answer = ["resolve", "fraud", "--question", question, "--by", "Eve"];
    const abandoned = await starter([...answer, "--abandon", why]);
    expect(abandoned.exitCode).toBe(0);
    expect(await ended("fraud")).toBe("FAILED");

    await vi.waitFor(async () => {
      const all = ["runs", "retry", "--failed", "--reason", "service was down", "--yes", "--json"];
      const many = jsonOf(await starter([...all, "--since", "1h"]));
      expect(many).toMatchObject({
        runs: listWith(
          fields({ workflowId: "fraud", status: "endedByPerson", reason: holding(why) }),
        ),
      });
    }, PATIENCE);
    const alone = await retry("fraud");
    expect(alone.exitCode).toBe(2);
    expect(jsonOf(alone)).toMatchObject({
      error: { type: "EndedByPerson", message: holding("What a person has ended stays ended") },
    });
    expect((await retry("fraud", "--overrule")).stdout).toContain("needs --by and --reason");
    expect(await paid("81.00")).toEqual([]);

    const overruled = await retry("fraud", "--overrule", "--reason", "the bank has cleared it");
    expect(jsonOf(overruled)).toMatchObject({
      plan: { from: "awaitApproval", overruled: [{ what: "abandoned", by: "Eve", why }] },
    });
    await awaitStage("fraud", "awaitApproval");
    const own = await approve("fraud", "Bob");
    expect(own.exitCode).toBe(2);
    expect(own.stdout).toContain("Bob overruled who had ended this run");
    expect(await paid("81.00")).toEqual([]);
    expect((await approve("fraud", "Zoe")).exitCode).toBe(0);
    expect(await ended("fraud")).toBe("COMPLETED");
    expect(await paid("81.00")).toHaveLength(1);
    const audit = jsonOf(await starter(["audit", "fraud", "--json"]));
    expect(audit).toMatchObject({
      entries: listWith(
        fields({ who: "Eve", what: "abandoned", detail: fields({ why }) }),
        fields({ who: "Bob", what: "overruled: abandoned" }),
        fields({ who: "Zoe", what: "approved" }),
      ),
    });
  });

  it("stays rejected, and the rejection is not sent again to a run that asks anew", async () => {
    await start("payout", "rejected", paying("85.00", { approval: { above: "25" } }));
    await awaitStage("rejected", "awaitApproval");
    const hash = await approvalHash("rejected");
    const no = ["approve", "rejected", "--by", "Eve", "--hash", hash, "--reject", "not ours"];
    expect((await starter(no)).exitCode).toBe(0);
    expect(await ended("rejected")).toBe("FAILED");
    expect((await retry("rejected")).stdout).toContain("was rejected by Eve");
    expect((await retry("rejected", "--overrule", "--reason", "it is ours")).exitCode).toBe(0);
    await awaitStage("rejected", "awaitApproval");
    expect((await approve("rejected", "Eve")).exitCode).toBe(0);
    expect(await ended("rejected")).toBe("COMPLETED");
    expect(await paid("85.00")).toHaveLength(1);
  });
});

describe("a run that is cancelled", () => {
  it("undoes what the instruction names, and can be done anew", async () => {
    await start("onboardCardholder", "cancelled", {
      cardholder: { ...cardholder, last_name: "Cancelled" },
      card: { ...card, card_limit: "9000000.00" },
      options: { ...options, onFailure: "compensate" },
    });
    await awaitStage("cancelled", "awaitFunds");
    const asked = await starter(["runs", "cancel", "cancelled", "--reason", "wrong", "--json"]);
    expect(asked.exitCode).toBe(0);
    expect(jsonOf(asked)).toEqual({
      workflowId: "cancelled",
      runId: ID,
      status: "cancelling",
      undoes: true,
    });
    expect(await ended("cancelled")).toBe("CANCELLED");
    const standing = async () =>
      (await simulator.state()).cardholders.filter(
        ({ last_name, removed }) => last_name === "Cancelled" && !removed,
      );
    expect(await standing()).toEqual([]);
    const late = await starter(["runs", "cancel", "cancelled"]);
    expect(late.exitCode).toBe(2);
    expect(late.stderr).toContain("has ended");

    const patch = await file("cancelled.json", { card: { card_limit: "10.00" } });
    const after = await retry("cancelled", "--amend", patch);
    expect(after.exitCode).toBe(2);
    const anew = await retry("cancelled", "--from", "createCardholder", "--amend", patch);
    expect(jsonOf(anew)).toMatchObject({ status: "retried" });
    expect(await ended("cancelled")).toBe("COMPLETED");
    expect(await standing()).toHaveLength(1);
  });

  it("keeps what it has done without such an instruction, and goes on when it is retried", async () => {
    await start("payout", "kept", paying("80.00", { approval: { above: "25" } }));
    await awaitStage("kept", "awaitApproval");
    const person = await starter(["runs", "cancel", "kept"]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(tooWide(person.stdout)).toEqual([]);
    expect(await ended("kept")).toBe("CANCELLED");
    expect(jsonOf(await retry("kept"))).toMatchObject({ status: "retried" });
    await awaitStage("kept", "awaitApproval");
    expect((await approve("kept", "Eve")).exitCode).toBe(0);
    expect(await ended("kept")).toBe("COMPLETED");
    expect(await paid("80.00")).toHaveLength(1);
  });
});

it("is replayed as it went, also after a retry", async () => {
  const replayed = await starter(["runs", "replay", "again", "--json"]);
  expect(jsonOf(replayed)).toMatchObject({ runs: [{ deterministic: true }] });
  expect(replayed.exitCode).toBe(0);
});
