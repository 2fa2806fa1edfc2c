import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FeedEvent, Ledger, Run } from "../../src/index.ts";
import { limitsId, UnknownCursor } from "../../src/index.ts";
import { ADA, batchOf, made, nameOf, rowOf, runOf, saving, startOf } from "./rows.ts";

/** Reads a whole feed in small pages, as a reader with a cursor does. */
export const readFeed = async (
  ledger: Ledger,
  account = "account-1",
  after?: string,
): Promise<ReadonlyArray<FeedEvent>> => {
  const all: Array<FeedEvent> = [];
  for (;;) {
    const page = await ledger.events(account, { after: all.at(-1)?.id ?? after, limit: 97 });
    if (page.length === 0) return all;
    all.push(...page);
  }
};

const keyOf = ({ step = "", subject, workflowId }: FeedEvent) => `${subject} ${workflowId} ${step}`;

const ENDED: Readonly<Record<string, string>> = {
  succeeded: "completed",
  failed: "failed",
  timedOut: "failed",
  terminated: "failed",
  ended: "stopped",
  cancelled: "stopped",
  returned: "returned",
};

/** The last event of each thing says what the ledger shows of it, and no event repeats the state before. */
export const expectFolded = async (ledger: Ledger, runs: ReadonlyArray<Run>): Promise<void> => {
  const events = await readFeed(ledger);
  expect(events.map(({ id }) => Number(id.split("_")[1]))).toEqual(events.map((_, at) => at + 1));
  const states = new Map<string, string>();
  const repeated = events.filter((event) => {
    const was = states.get(keyOf(event));
    states.set(keyOf(event), event.state);
    return was === event.state;
  });
  if (repeated[0])
    console.log(
      events.filter((e) => keyOf(e) === keyOf(repeated[0]!)),
      await ledger.runs({ workflowIds: [repeated[0].workflowId] }),
      repeated.length,
    );
  expect(repeated).toEqual([]);
  const shown = new Map<string, string>();
  for (const { amount, planned, status, type, workflowId } of runs) {
    for (const { operation, standing, step, workflowId: of } of await ledger.rowsOf(workflowId)) {
      const asks = ["asking", "approval"].includes(standing) ? standing : "answered";
      if (operation === "createPayout") shown.set(`payment ${of} ${step}`, standing);
      else if (asks !== "answered" || states.has(`question ${of} ${step}`))
        shown.set(`question ${of} ${step}`, asks);
    }
    const payment = `payment ${workflowId} createPayout`;
    if (type === "payout" && amount !== null && !shown.has(payment))
      shown.set(payment, planned ?? "open");
    const run = `run ${workflowId} `;
    if (type !== "payout" && (states.has(run) || status in ENDED))
      shown.set(run, ENDED[status] ?? "open");
  }
  expect(Object.fromEntries(states)).toEqual(Object.fromEntries(shown));
};

/** The feed of events. */
export const describeFeed = (open: () => Promise<Ledger>): void => {
  let ledger: Ledger;
  let count = 0;
  beforeAll(async () => {
    ledger = await open();
  });
  afterAll(() => ledger.close());
  const account = () => `feed-${++count}`;

  const typesOf = async (of: string, after?: string) =>
    (await readFeed(ledger, of, after)).map(({ type }) => type);

  describe("the feed of events", () => {
    it("has a payment from its start to its return, with its facts and no payee", async () => {
      const of = account();
      const name = nameOf({ account: of, workflowId: `${of}/payout` });
      await ledger.recordStart(runOf(name), startOf());
      await ledger.transact(name, saving(name, { state: "ready" }));
      await ledger.transact(name, saving(name, made(`${of}-P`)));
      const saw = (word: string, outcome: "completed" | "failed") =>
        ledger.sawPayout(of, `${of}-P`, { word, outcome, asks: false, problem: null });
      await saw("paid", "completed");
      await saw("paid", "completed");
      await saw("bounced", "failed");
      const events = await readFeed(ledger, of);
      expect(events.map(({ type }) => type)).toEqual([
        "payment.created",
        "payment.sent",
        "payment.completed",
        "payment.returned",
      ]);
      expect(events.at(-1)).toMatchObject({
        account: of,
        workflowId: name.workflowId,
        step: "createPayout",
        workflowType: "payout",
        amount: "250.00",
        currency: "USD",
        reference: "Invoice 17",
        resultId: `${of}-P`,
        word: "bounced",
        reason: 'its payout came back: the service says "bounced"',
      });
      expect(JSON.stringify(events)).not.toMatch(/Hopper|B-1|mark-1/);
    });

    it("names the amount of a payment whose worker records another write before its start is recorded", async () => {
      const [of, other] = [account(), account()];
      const begin = async (account: string) => {
        const name = nameOf({
          account,
          workflowId: `${account}/payout`,
          step: "createBeneficiary",
        });
        const { request } = rowOf(name, await ledger.state());
        const moneyless = { ...request, amount: null, currency: null, reference: null };
        const payee = {
          ...made(`${account}-B`),
          operation: "createBeneficiary",
          request: moneyless,
        };
        const change = saving(name, payee);
        await ledger.transact(name, (look) => ({ ...change(look), workflowType: "payout" }));
      };
      for (const account of [of, other]) await begin(account);
      await ledger.recordStart(
        runOf(nameOf({ account: of, workflowId: `${of}/payout` })),
        startOf(),
      );
      const payout = nameOf({ account: other, workflowId: `${other}/payout` });
      await ledger.transact(payout, saving(payout, { state: "ready" }));
      await ledger.recordStart(runOf(payout), startOf());
      for (const account of [of, other])
        expect(await readFeed(ledger, account)).toMatchObject([
          { type: "payment.created", step: "createPayout", amount: "250.00", currency: "USD" },
        ]);
    });

    it("has a write that is only checked first as open, until its run ends or the ledger may lack a send", async () => {
      const [of, other] = [account(), account()];
      const runOfAccount = (one: string) => `${one}/run`;
      // Both have the same key.
      const checked = { state: "unknown", doubt: 1, sends: 0 } as const;
      for (const one of [of, other]) {
        const workflowId = runOfAccount(one);
        const run = { ...runOf({ account: one, workflowId }), type: "payRent" };
        await ledger.recordStart({ ...run, amount: null, currency: null }, startOf());
        const key = nameOf({ account: one, workflowId: `payout/${of}` });
        await ledger.transact(key, saving(key, { ...checked, ownerId: workflowId }));
      }
      const statusOf = async (one: string) =>
        (await ledger.runs({ workflowIds: [runOfAccount(one)] }))[0]?.status;
      // Other tests may have recovered a ledger that they share.
      const isWhole = (await ledger.state()).epoch === 1;
      const whileOpen = isWhole ? "running" : "unknown";
      for (const one of [of, other]) {
        expect(await statusOf(one)).toBe(whileOpen);
        const [created, ...more] = await readFeed(ledger, one);
        expect(more.map(({ type }) => type)).toEqual(isWhole ? [] : ["payment.unknown"]);
        expect(created).toMatchObject({
          type: "payment.created",
          amount: "250.00",
          currency: "USD",
        });
      }
      const end = { endState: "failed", endedAt: 1, endType: "X", endReason: "Y" } as const;
      await ledger.recordEnds([{ workflowId: runOfAccount(of), runId: "run-1", ...end }]);
      expect(await Promise.all([of, other].map(statusOf))).toEqual(["unknown", whileOpen]);
      expect(await typesOf(of)).toContain("payment.unknown");
      expect((await typesOf(other)).includes("payment.unknown")).toBe(!isWhole);
    });

    it("says why a payment asks, was refused, or was stopped with its run", async () => {
      const of = account();
      const [asks, stopped] = [`${of}/asks`, `${of}/stopped`];
      const name = nameOf({ account: of, workflowId: asks });
      const question = { id: "q", candidates: [], account: null, since: 0 };
      const ask = { ...question, kind: "approval", reason: "above 100 EUR" } as const;
      await ledger.transact(name, saving(name, { state: "ready", question: ask }));
      const refused = { state: "refused", question: null, message: "no funds" } as const;
      await ledger.transact(name, saving(name, refused));
      await ledger.recordStart(runOf({ account: of, workflowId: stopped }), startOf());
      const end = { endState: "failed", endedAt: 1, endType: "X", endReason: "no payee" } as const;
      await ledger.recordEnds([{ workflowId: stopped, runId: "run-1", ...end }]);
      const events = await readFeed(ledger, of);
      expect(events.map(({ reason, type }) => [type, reason])).toEqual([
        ["payment.created", undefined],
        ["payment.needs_approval", "above 100 EUR"],
        ["payment.failed", "no funds"],
        ["payment.created", undefined],
        ["payment.stopped", "no payee"],
      ]);
    });

    it("has an onboarding with its check, once, also if a later run waits again", async () => {
      const of = account();
      const workflowId = `${of}/onboard`;
      const run = { ...runOf({ account: of, workflowId }), type: "onboardCardholder" };
      await ledger.recordStart(run, startOf({ type: "onboardCardholder" }));
      const wait = { account: of, workflowId, activityId: "awaitVerification:H", thing: "H" };
      for (const runId of ["run-1", "run-2"]) {
        const named = { ...wait, runId, kind: "cardholder" } as const;
        await ledger.openWait(named);
        await ledger.closeWaits([{ ...named, outcome: { outcome: "verified" } }]);
      }
      const end = { endedAt: 1, endType: null, endReason: null } as const;
      await ledger.recordEnds([{ workflowId, runId: "run-2", endState: "failed", ...end }]);
      const failed = await readFeed(ledger, of);
      expect(failed.map(({ type }) => type)).toEqual(["onboarding.verified", "onboarding.failed"]);
      expect(failed[0]).toMatchObject({ resultId: "H" });
      const card = nameOf({ account: of, workflowId, step: "createCard" });
      const done = { ...made(`${of}-C`), operation: "createCard", runId: "run-3" };
      await ledger.transact(card, (look) => ({
        ...saving(card, done)(look),
        workflowType: "onboardCardholder",
      }));
      await ledger.recordEnds([{ workflowId, runId: "run-3", endState: "succeeded", ...end }]);
      expect(await typesOf(of, failed.at(-1)?.id)).toEqual([
        "onboarding.processing",
        "onboarding.completed",
      ]);
    });

    it("has files and limits", async () => {
      const of = account();
      const batch = { ...batchOf(`${of}/file`), account: of };
      await ledger.saveBatch(batch.id, () => ({ batch: { ...batch, state: "uploading" } }));
      await ledger.saveBatch(batch.id, () => ({ batch }));
      const approved = { ...batch, state: "approved", approvedBy: "grace" } as const;
      await ledger.saveBatch(batch.id, () => ({ batch: approved }));
      await ledger.finishBatch(batch.id);
      // Nobody approves a file that needs no approval.
      const other = { ...batchOf(`${of}/other`), account: of };
      await ledger.saveBatch(other.id, () => ({ batch: { ...other, state: "reading" } }));
      await ledger.saveBatch(other.id, () => ({ batch: { ...other, state: "approved" } }));
      const limits = { maxAmounts: { EUR: "10" }, approveAbove: null };
      await ledger.setLimits(of, limits, ADA);
      const looser = await ledger.setLimits(of, { ...limits, maxAmounts: null }, ADA);
      await ledger.approveLimits(of, looser.pending?.sequence ?? 0, { ...ADA, by: "grace" });
      const events = await readFeed(ledger, of);
      expect(events.map(({ maxAmounts, type }) => [type, maxAmounts])).toEqual([
        ["batch.needs_approval", undefined],
        ["batch.approved", undefined],
        ["batch.ended", undefined],
        ["batch.started", undefined],
        ["limits.changed", { EUR: "10" }],
        ["limits.needs_approval", { EUR: "10" }],
        ["limits.changed", null],
      ]);
      expect(events[4]?.workflowId).toBe(limitsId(of));
    });

    it("has a problem that needs a person when it begins, and when it ends", async () => {
      const of = account();
      const item = {
        kind: "late",
        account: of,
        of,
        count: 2,
        money: [{ amount: "19.00", currency: "USD" }],
        since: 1,
        workflowIds: ["one", "two"],
        message: null,
      } as const;
      await ledger.noteProblems([item]);
      await ledger.noteProblems([{ ...item, count: 3 }]);
      await ledger.noteProblems([]);
      const events = await readFeed(ledger, of);
      expect(events).toMatchObject([
        { type: "attention.raised", problem: "late", count: 2, sums: { USD: "19.00" } },
        { type: "attention.cleared", problem: "late" },
      ]);
    });

    const starts = (of: string, some: number) =>
      Promise.all(
        Array.from({ length: some }, (_, at) =>
          ledger.recordStart(runOf({ account: of, workflowId: `${of}/${at}` }), startOf()),
        ),
      );
    const someEvents = async (of: string, some: number) => {
      await starts(of, some);
      return readFeed(ledger, of);
    };

    it("refuses a cursor that it does not have, and says where to read again", async () => {
      const [of, other] = [account(), account()];
      const [first] = await someEvents(of, 2);
      await someEvents(other, 2);
      await expect(ledger.events(other, { after: first?.id })).rejects.toThrow(UnknownCursor);
      for (const after of ["evt_x", ""])
        await expect(ledger.events(of, { after })).rejects.toThrow(`"${after}" is not the id`);
      await expect(ledger.events(of, { after: "evt_3_abcdefghijklmnop" })).rejects.toThrow(
        /is of another account, or was lost if the ledger was restored\. Read again/,
      );
    });

    it("numbers nothing between a restore and recover, and refuses a reader that is ahead", async () => {
      const of = account();
      const [one, two] = await someEvents(of, 2);
      const mark = await ledger.mark();
      // As its witness remembers it, the ledger had more.
      expect(await ledger.expect({ ...mark, sequence: mark.sequence + 9 })).toBe(false);
      const run = { account: of, workflowId: `${of}/after` };
      await ledger.recordStart(runOf(run), startOf());
      expect(await ledger.events(of, { after: one?.id })).toEqual([two]);
      const lost = "evt_3_abcdefghijklmnop";
      const refused = { name: "UnknownCursor", readAfter: two?.id };
      await expect(ledger.events(of, { after: lost })).rejects.toMatchObject({
        ...refused,
        message: expect.stringMatching(/run `recover` first\. Then read again after evt_2_/),
      });
      await ledger.recover(ADA);
      await expect(ledger.events(of, { after: lost })).rejects.toMatchObject(refused);
      const next = await ledger.events(of, { after: two?.id });
      expect(next).toMatchObject([
        { id: expect.stringMatching(/^evt_3_/), workflowId: run.workflowId },
      ]);
      await expect(ledger.events(of, { after: lost })).rejects.toMatchObject(refused);
    });

    it("delivers each event to each endpoint in order, and a range again", async () => {
      const of = account();
      const all = (await someEvents(of, 5)).map(({ id }) => id);
      const deliver = async (endpoint: string, most: number) => {
        const ids: Array<string> = [];
        while (ids.length < most) {
          const [next] = await ledger.undelivered(endpoint, of, 1, 60_000);
          if (next === undefined) break;
          await ledger.delivered(endpoint, next);
          ids.push(next.id);
        }
        return ids;
      };
      expect(await deliver("one", 3)).toEqual(all.slice(0, 3));
      expect(await deliver("two", 9)).toEqual(all);
      expect(await ledger.redeliver(of, { from: all[1], to: all[3] })).toBe(2);
      expect(await deliver("one", 9)).toEqual([...all.slice(1, 3), ...all.slice(3)]);
      expect(await deliver("two", 9)).toEqual(all.slice(1, 4));
      expect(await ledger.redeliver(of, { from: all[4] })).toBe(2);
      expect(await deliver("two", 9)).toEqual(all.slice(4));
      expect(await ledger.redeliver(of, { to: all[1] })).toBe(2);
      expect(await deliver("two", 9)).toEqual(all.slice(0, 2));
    });

    it("delivers to a new endpoint what is recent, and of a later account everything", async () => {
      const [first, second, third] = [account(), account(), account()];
      const endpoint = `${first}/endpoint`;
      // Each event counts as earlier than that.
      const deliver = async (of: string) =>
        (await ledger.undelivered(endpoint, of, 9, -60_000)).map(({ id }) => id);
      // Nobody has read the feed before, and it has more events than are numbered at once.
      await starts(first, 510);
      await starts(second, 1);
      for (const _ of ["new", "known"])
        expect(await Promise.all([deliver(first), deliver(second)])).toEqual([[], []]);
      // No worker has looked since before the first payment of the third account.
      const missed = (await someEvents(third, 2)).map(({ id }) => id);
      expect(await deliver(third)).toEqual(missed);
    });

    it("loses no redelivery by another one, or by an event that is being delivered", async () => {
      const of = account();
      const all = (await someEvents(of, 6)).map(({ id }) => id);
      const deliver = async (most: number) => {
        const ids: Array<string> = [];
        while (ids.length < most) {
          const [next] = await ledger.undelivered("one", of, 1, 60_000);
          if (next === undefined) break;
          await ledger.delivered("one", next);
          ids.push(next.id);
        }
        return ids;
      };
      await deliver(5);
      const [underWay] = await ledger.undelivered("one", of, 1, 60_000);
      await ledger.redeliver(of, { from: all[1], to: all[3] });
      if (underWay !== undefined) await ledger.delivered("one", underWay);
      expect(await deliver(1)).toEqual([all[1]]);
      await expect(ledger.redeliver(of, { from: all[3], to: all[2] })).rejects.toThrow(
        /is after .* Nothing was changed/,
      );
      const unknown = all[1]?.replace(/^evt_\d+/, "evt_99");
      for (const range of [{ from: unknown }, { to: unknown }])
        await expect(ledger.redeliver(of, range)).rejects.toThrow(
          /no event evt_99_.* Nothing was changed\.$/,
        );
      expect(await deliver(1)).toEqual([all[2]]);
      await ledger.redeliver(of, { from: all[4], to: all[4] });
      expect(await deliver(1)).toEqual([all[3]]);
      await ledger.redeliver(of, { from: all[0], to: all[0] });
      expect(await deliver(9)).toEqual(all.slice(0, 5));
    });

    it("says to an endpoint how many events were pruned before they were delivered", async () => {
      const of = account();
      const [first, , , last] = await someEvents(of, 4);
      const next = async (backMs = 60_000) => ledger.undelivered(of, of, 1, backMs);
      expect(await next()).toEqual([first]);
      await ledger.delivered(of, first!);
      await ledger.pruneEvents(Date.now() + 3_600_000);
      for (const _ of ["sent", "sent again"])
        expect(await next()).toEqual([{ ...last, missed: 2 }]);
      await ledger.delivered(of, last!);
      const [later] = (await someEvents(of, 5)).slice(1);
      expect(await next()).toEqual([later]);
    });

    it("goes on after a redelivery whose events were pruned before they were delivered", async () => {
      const of = account();
      const all = await someEvents(of, 4);
      for (const event of await ledger.undelivered(of, of, 9, 60_000))
        await ledger.delivered(of, event);
      await ledger.redeliver(of, { from: all[0]?.id, to: all[2]?.id });
      await ledger.pruneEvents(Date.now() + 3_600_000);
      const [later] = (await someEvents(of, 5)).slice(1);
      expect(await ledger.undelivered(of, of, 9, 60_000)).toEqual([later]);
    });

    it("is pruned up to its newest event, and refuses a reader that is behind", async () => {
      const of = account();
      const all = await someEvents(of, 4);
      await ledger.pruneEvents(Date.now() + 3_600_000);
      expect(await ledger.events(of, { after: all[2]?.id })).toEqual([all[3]]);
      expect(await ledger.events(of)).toEqual([all[3]]);
      await expect(ledger.events(of, { after: all[1]?.id })).rejects.toThrow(/were pruned/);
      // Both ends are included, so the last pruned event is missing, too.
      for (const pruned of [all[0]?.id, all[2]?.id]) {
        await expect(ledger.redeliver(of, { from: pruned })).rejects.toThrow(/was pruned/);
        await expect(ledger.redeliver(of, { to: pruned })).rejects.toThrow(/was pruned/);
      }
      const [next] = (await someEvents(of, 5)).slice(1);
      expect(next?.id).toMatch(/^evt_5_/);
    });
  });
};
