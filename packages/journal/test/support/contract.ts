import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Begun, BegunSend, Journal, Send } from "../../src/index.ts";
import { sendOf } from "./sends.ts";

/** The send that may be made; fails the test where it may not. */
const permitted = (begun: Begun): BegunSend => {
  if (begun._tag === "AlreadySent") throw new Error(`Sent before: ${JSON.stringify(begun.latest)}`);
  return begun.send;
};

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const collected: Array<A> = [];
  for await (const item of items) collected.push(item);
  return collected;
};

/** What every journal must do. `open`: one more handle on the same journal, of an account. */
export const describeJournal = (open: (account: string) => Promise<Journal>): void => {
  let accounts = 0;
  let account: string;
  let journal: Journal;
  beforeEach(async () => {
    // Each test has a journal without sends.
    account = `account-${(accounts += 1)}`;
    journal = await open(account);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await journal.close();
  });
  const begin = async (given: Partial<Send> = {}) => permitted(await journal.begin(sendOf(given)));
  const { operation } = sendOf({});
  const outcomeOf = async (given: Partial<Send> = {}) => {
    const begun = await journal.begin(sendOf(given));
    return begun._tag === "Begun" ? "Begun" : `${begun.latest.outcome} ${begun.latest.number}`;
  };

  describe("a send", () => {
    it("is kept with all that is known of it", async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
      const send = await begin();
      const recorded = { ...sendOf(), begunAt: 1_000_000, outcome: "begun", ids: {} };
      expect(await journal.find(sendOf())).toStrictEqual([recorded]);
      vi.setSystemTime(1_000_500);
      await send.recordOutcome("carriedOut", {
        payout_id: "P-1",
        short_reference: "P261121-ABCDEFGH",
      });
      expect(await journal.find(sendOf())).toStrictEqual([
        {
          ...recorded,
          outcome: "carriedOut",
          outcomeAt: 1_000_500,
          ids: { payout_id: "P-1", short_reference: "P261121-ABCDEFGH" },
        },
      ]);
    });

    it("is kept without key and amount, where it has none", async () => {
      const {
        amount: _,
        currency: __,
        key: ___,
        ...bare
      } = sendOf({ operation: "createCardholder" });
      await journal.begin(bare);
      const [found] = await journal.find(bare);
      expect(found).toStrictEqual({ ...bare, begunAt: found?.begunAt, outcome: "begun", ids: {} });
    });

    it("may be begun once, by whomever", async () => {
      await begin();
      expect(await outcomeOf()).toBe("begun 1");
      expect(await outcomeOf({ runId: "another run", payloadHash: "another request" })).toBe(
        "begun 1",
      );
    });

    it("may be begun once of many that are begun at the same moment", async () => {
      const begun = await Promise.all(Array.from({ length: 20 }, () => outcomeOf()));
      expect(begun.toSorted()).toEqual(["Begun", ...Array.from({ length: 19 }, () => "begun 1")]);
    });

    it.each(["unknown", "notCarriedOut"] as const)(
      "is not begun again, but the next one is, where it was %s",
      async (outcome) => {
        await (await begin()).recordOutcome(outcome);
        expect(await outcomeOf()).toBe(`${outcome} 1`);
        expect(await outcomeOf({ number: 2 })).toBe("Begun");
        expect(await outcomeOf({ number: 1 })).toBe("begun 2");
      },
    );

    it("is not begun where a later one was", async () => {
      await begin({ number: 3 });
      expect(await outcomeOf({ number: 2 })).toBe("begun 3");
    });

    it("is not begun once one was carried out, unless that has been undone", async () => {
      await (await begin()).recordOutcome("carriedOut", { payout_id: "P-1" });
      expect(await outcomeOf({ number: 2 })).toBe("carriedOut 1");
      expect(await outcomeOf({ number: 2, isUndone: true })).toBe("Begun");
      // Undone or not: never the same number twice.
      expect(await outcomeOf({ number: 2, isUndone: true })).toBe("begun 2");
    });

    it("is not begun where an earlier one may have been made that its run does not know of", async () => {
      const first = await begin();
      // The database of the run was put back: it has counted a send that never left.
      expect(await outcomeOf({ number: 2, knownTo: 0 })).toBe("begun 1");
      await first.recordOutcome("unknown");
      expect(await outcomeOf({ number: 2, knownTo: 0 })).toBe("unknown 1");
      expect(await outcomeOf({ number: 2, knownTo: 1 })).toBe("Begun");
    });

    it("is begun where an earlier one that its run does not know of was not carried out", async () => {
      await (await begin()).recordOutcome("notCarriedOut");
      expect(await outcomeOf({ number: 2, knownTo: 0 })).toBe("Begun");
    });

    it("learns of what was carried out, before what came later", async () => {
      const first = await begin();
      await (await begin({ number: 2 })).recordOutcome("notCarriedOut");
      await first.recordOutcome("carriedOut", { payout_id: "P-1" });
      expect(await outcomeOf({ number: 3 })).toBe("carriedOut 1");
    });

    it("is not begun by a run that does not know of one that was undone", async () => {
      await (await begin()).recordOutcome("carriedOut", { payout_id: "P-1" });
      await journal.noteUndone({ workflowId: sendOf({}).workflowId, operation, id: "P-1" });
      expect(await outcomeOf()).toBe("undone 1");
      expect(await outcomeOf({ number: 2, knownTo: 0 })).toBe("undone 1");
      expect(await outcomeOf({ number: 2, knownTo: 0, isUndone: true })).toBe("Begun");
      expect(await outcomeOf({ number: 3, knownTo: 2 })).toBe("Begun");
    });

    it("is undone by the id of what it made, and none other is", async () => {
      const { workflowId } = sendOf({});
      // The one thing that two writes may have made.
      const operation = "createBeneficiary";
      const ids = { beneficiary_id: "P-1", payout_id: "B-1" };
      await (await begin({ operation })).recordOutcome("carriedOut", ids);
      await (await begin({ operation, step: "lost" })).recordOutcome("unknown");
      await (await begin({ operation, workflowId: "other" })).recordOutcome("carriedOut", ids);
      await journal.noteUndone({ workflowId, operation, id: "P-2" });
      await journal.noteUndone({ workflowId, operation, id: "B-1" });
      await journal.noteUndone({ workflowId, operation: "createCard", id: "P-1" });
      const outcomes = async () =>
        (await collect(journal.since(0))).map(({ outcome, step }) => `${step} ${outcome}`);
      const { step } = sendOf({});
      expect(await outcomes()).toEqual([
        `${step} carriedOut`,
        "lost unknown",
        `${step} carriedOut`,
      ]);
      await journal.noteUndone({ workflowId, operation, id: "P-1" });
      expect(await outcomes()).toEqual([`${step} undone`, "lost unknown", `${step} carriedOut`]);
      expect(await journal.madeSince(operation, 0)).toHaveLength(1);
    });

    it("is known as carried out once it was found", async () => {
      const { step, workflowId } = sendOf({});
      const found = { workflowId, step, operation, ids: { payout_id: "P-1" } };
      await (await begin()).recordOutcome("unknown");
      await (await begin({ number: 2 })).recordOutcome("notCarriedOut");
      expect(await journal.noteFound(found)).toBeUndefined();
      expect(
        (await journal.find({ workflowId, step })).map(({ ids, outcome }) => [outcome, ids]),
      ).toEqual([
        ["carriedOut", { payout_id: "P-1" }],
        ["notCarriedOut", {}],
      ]);
      expect(await outcomeOf({ number: 3 })).toBe("carriedOut 1");
      // Said again, as by an activity that is tried again.
      expect(await journal.noteFound(found)).toBeUndefined();
      await journal.noteUndone({ workflowId, operation, id: "P-1" });
      expect(await outcomeOf({ number: 3, knownTo: 0 })).toBe("undone 1");
    });

    it("is not what another write made, or is known to have made", async () => {
      const { step } = sendOf({});
      const ids = { payout_id: "P-1" };
      const of = (workflowId: string) => ({ workflowId, step, operation, ids });
      await (await begin({ workflowId: "made" })).recordOutcome("carriedOut", ids);
      await (await begin({ workflowId: "lost" })).recordOutcome("unknown");
      expect(await journal.noteFound(of("lost"))).toEqual({ workflowId: "made", step });
      expect(await outcomeOf({ workflowId: "lost", number: 2 })).toBe("Begun");
      // An id of another kind is another thing.
      const card = { ...of("lost"), operation: "createCard", ids: { card_id: "P-1" } };
      expect(await journal.noteFound(card)).toBeUndefined();
    });

    it("is not carried out by an answer that names what another write made", async () => {
      const { step, workflowId } = sendOf({});
      const ids = { payout_id: "P-1" };
      expect(await (await begin()).recordOutcome("carriedOut", ids)).toBeUndefined();
      const other = await begin({ workflowId: "other" });
      expect(await other.recordOutcome("carriedOut", ids)).toEqual({ workflowId, step });
      await other.recordOutcome("unknown");
      expect(await outcomeOf({ workflowId: "other", number: 2, knownTo: 0 })).toBe("unknown 1");
      expect(await outcomeOf({ number: 2 })).toBe("carriedOut 1");
      expect(await journal.madeSince(operation, 0)).toHaveLength(1);
    });

    it("is carried out where it got the beneficiary of a write with the same account, and no other", async () => {
      const made = async (name: string, payee: string) => {
        const given = { operation: "createBeneficiary", workflowId: name, payee };
        return (await begin(given)).recordOutcome("carriedOut", { beneficiary_id: "B-1" });
      };
      expect(await made("first", "account-1")).toBeUndefined();
      expect(await made("alike", "account-1")).toBeUndefined();
      expect(await made("another", "account-2")).toMatchObject({ step: sendOf().step });
    });

    it("is one write's alone, however many find it at the same moment", async () => {
      const { step } = sendOf({});
      const lost = Array.from({ length: 8 }, (_, index) => `lost-${index}`);
      for (const workflowId of lost) await (await begin({ workflowId })).recordOutcome("unknown");
      const owners = await Promise.all(
        lost.map((workflowId) =>
          journal.noteFound({ workflowId, step, operation, ids: { payout_id: "P-1" } }),
        ),
      );
      expect(owners.filter((owner) => owner === undefined)).toHaveLength(1);
      expect(await journal.madeSince(operation, 0)).toHaveLength(1);
    });

    it("has nothing to do with other steps, runs and accounts", async () => {
      await begin();
      expect(await outcomeOf({ step: "payTheSecond" })).toBe("Begun");
      expect(await outcomeOf({ workflowId: "payout-2" })).toBe("Begun");
      const other = await open(`${account}-other`);
      expect((await other.begin(sendOf()))._tag).toBe("Begun");
      expect(await other.find(sendOf())).toHaveLength(1);
      await other.close();
    });
  });

  describe("a send that has begun", () => {
    it("is the latest until a later one begins", async () => {
      const first = await begin();
      expect(await first.isLatest()).toBe(true);
      const second = await begin({ number: 2 });
      expect(await first.isLatest()).toBe(false);
      expect(await second.isLatest()).toBe(true);
    });

    it("is overtaken where one before it turns out to have been carried out", async () => {
      const first = await begin();
      const second = await begin({ number: 2 });
      await first.recordOutcome("carriedOut");
      expect(await second.isLatest()).toBe(false);
    });

    it("is not overtaken by what was undone", async () => {
      await (await begin()).recordOutcome("carriedOut");
      expect(await (await begin({ number: 2, isUndone: true })).isLatest()).toBe(true);
    });
  });

  describe("finding", () => {
    it("gives the sends of a write, or of all writes of a workflow id, oldest first", async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      for (const [at, step] of [
        [1_000, "createBeneficiary"],
        [2_000, "createPayout"],
        [3_000, "aLaterStep"],
      ] as const) {
        vi.setSystemTime(at);
        await begin({ step });
      }
      vi.setSystemTime(4_000);
      await begin({ number: 2 });
      await begin({ workflowId: "another" });
      const steps = (await journal.find({ workflowId: "payout-1" })).map(
        ({ number, step }) => `${step} ${number}`,
      );
      expect(steps).toEqual([
        "createBeneficiary 1",
        "createPayout 1",
        "aLaterStep 1",
        "createPayout 2",
      ]);
      const sends = await journal.find({ workflowId: "payout-1", step: "createPayout" });
      expect(sends.map(({ number }) => number)).toEqual([1, 2]);
    });

    it("gives all that began since, oldest first, however many", async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: 1_000 });
      await begin({ workflowId: "before" });
      vi.setSystemTime(2_000);
      const names = Array.from({ length: 2_345 }, (_, index) => `at-once-${index}`);
      await Promise.all(names.map((workflowId) => begin({ workflowId })));
      vi.setSystemTime(3_000);
      await begin({ workflowId: "after" });
      const found = (await collect(journal.since(2_000))).map(({ workflowId }) => workflowId);
      expect(found.at(-1)).toBe("after");
      expect(found.slice(0, -1).toSorted()).toEqual(names.toSorted());
    });
  });

  it("returns what was made since, by the service's own answers", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000 });
    await (await begin({ workflowId: "old" })).recordOutcome("carriedOut", { payout_id: "P-0" });
    const late = await begin({ workflowId: "late" });
    vi.setSystemTime(5_000);
    await late.recordOutcome("carriedOut", { payout_id: "P-1", short_reference: "S-1" });
    await (await begin({ workflowId: "lost" })).recordOutcome("unknown");
    const cardholder = await begin({ workflowId: "holder", operation: "createCardholder" });
    await cardholder.recordOutcome("carriedOut", { card_holder_id: "H-1" });
    expect(await journal.madeSince("createPayout", 2_000)).toEqual([
      { id: "P-1", answeredAt: 5_000 },
    ]);
    expect(await journal.madeSince("createCardholder", 2_000)).toEqual([
      { id: "H-1", answeredAt: 5_000 },
    ]);
  });

  it("counts whether keys are echoed", async () => {
    expect(await journal.keyEcho("createPayout")).toEqual({ same: 0, other: 0, none: 0 });
    for (const echo of ["same", "same", "other", "none"] as const) {
      await journal.noteKeyEcho("createPayout", echo);
    }
    await journal.noteKeyEcho("createCard", "same");
    expect(await journal.keyEcho("createPayout")).toEqual({ same: 2, other: 1, none: 1 });
  });

  it("keeps the longest lag of a list", async () => {
    expect(await journal.listLag("listPayouts")).toBe(0);
    for (const lag of [500, 2_500.4, 1_000]) await journal.noteListLag("listPayouts", lag);
    expect(await journal.listLag("listPayouts")).toBeCloseTo(2_500, -1);
    expect(await journal.listLag("listCardholders")).toBe(0);
  });

  it("gives the sends to a payee since, whatever became of them", async () => {
    vi.setSystemTime(1_000);
    await begin({ workflowId: "old", payee: "B-1" });
    vi.setSystemTime(5_000);
    await (await begin({ workflowId: "w-1", payee: "B-1" })).recordOutcome("unknown");
    await begin({ workflowId: "w-2", payee: "B-2" });
    vi.setSystemTime(6_000);
    await (
      await begin({ workflowId: "w-3", payee: "B-1" })
    ).recordOutcome("carriedOut", { payout_id: "P-3" });
    expect(await journal.sendsTo("B-1", 5_000)).toMatchObject([
      { workflowId: "w-1", outcome: "unknown" },
      { workflowId: "w-3", outcome: "carriedOut", ids: { payout_id: "P-3" } },
    ]);
    expect(await journal.sendsTo("B-3", 0)).toEqual([]);
  });

  it("knows which payees were paid, by their id and by the account that they were created with", async () => {
    const created = { operation: "createBeneficiary", step: "createBeneficiary" };
    const settle = async (given: Partial<Send>, ids: Readonly<Record<string, string>>) =>
      (await begin(given)).recordOutcome("carriedOut", ids);
    await settle({ ...created, workflowId: "w-1", payee: "account-1" }, { beneficiary_id: "B-1" });
    await settle({ ...created, workflowId: "w-2", payee: "account-2" }, { beneficiary_id: "B-2" });
    await settle({ workflowId: "w-1", payee: "B-1" }, { payout_id: "P-1" });
    await begin({ workflowId: "w-2", payee: "B-2" });
    const asked = ["B-1", "B-2", "account-1", "account-2", "account-3"];
    expect([...(await journal.paidAmong(asked))].toSorted()).toEqual(["B-1", "account-1"]);
    expect((await journal.find({ workflowId: "w-2", step: "createPayout" }))[0]).toMatchObject({
      payee: "B-2",
    });
    expect(await journal.paidAmong([])).toEqual(new Set());
  });
};
