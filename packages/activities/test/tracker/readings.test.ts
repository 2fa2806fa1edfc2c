import {
  type Assumptions,
  defaultAssumptions,
  type ListPayoutsInput,
  type Payout,
  Unavailable,
} from "@durable-payments/client/effect";
import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { Client } from "@temporalio/client";
import { Effect } from "effect";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readings } from "../../src/tracker/readings.ts";
import { ACCOUNT, putRow } from "../support/rows.ts";

/** The service's clock is hours behind, or ahead of, ours: only its own times count. */
const THEIRS = Date.UTC(2026, 10, 27);

const HOUR = 3_600_000;

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory", { clock: () => THEIRS + 2 * HOUR });
  onTestFinished(() => ledger.close());
});

/** A service with payouts that have settled at these times of its clock. */
const serviceOf = (
  settled: Map<string, number>,
  honours: boolean,
  assumptions: Partial<Assumptions> = {},
  created: ReadonlyMap<string, number> = new Map(),
  broken: (payout_id: string) => boolean = () => false,
) => {
  const asked: Array<ListPayoutsInput> = [];
  const listPayouts = (query: ListPayoutsInput) =>
    Effect.sync(() => {
      asked.push(query);
      const { date_type, end = Infinity, page_num, page_size, start = 0 } = query;
      const isSettled = date_type === "settle_time";
      const listed = [...(isSettled ? settled : created)]
        .filter(([, at]) => !honours || (at >= start && at <= end))
        .toSorted(([, one], [, other]) => other - one);
      const item_list = listed
        .slice((page_num - 1) * page_size, page_num * page_size)
        .map(([payout_id, at]): Payout =>
          isSettled
            ? {
                payout_id,
                payout_status: "completed",
                complete_time: new Date(at).toISOString(),
              }
            : {
                payout_id,
                payout_status: "processing",
                create_time: new Date(at).toISOString(),
              },
        );
      const total_page = Math.ceil(listed.length / page_size);
      return { item_list, unreadable: [], total_page, total_item: listed.length };
    });
  const createdAt = (payout_id: string) => new Date(created.get(payout_id) ?? 0).toISOString();
  let retrieved = 0;
  const retrievePayout = ({ payout_id }: Pick<Payout, "payout_id">) =>
    Effect.suspend((): Effect.Effect<Payout, Unavailable> => {
      retrieved += 1;
      if (broken(payout_id)) {
        const of = { operation: "retrievePayout", carriedOut: "no", message: "It broke." } as const;
        return Effect.fail(new Unavailable({ ...of, status: 500 }));
      }
      return Effect.succeed({
        payout_id,
        payout_status: "processing",
        create_time: createdAt(payout_id),
      });
    });
  const client = {
    options: { assumptions: { ...defaultAssumptions, ...assumptions } },
    rate: () => undefined,
    listPayouts,
    retrievePayout,
  };
  const { parts, watermark } = readings({
    ledger,
    account: ACCOUNT,
    // Nobody waits.
    client: {} as Client,
    warn: () => {},
    watermark: undefined,
    // Nothing else of it is asked for.
    call: (call) => Effect.runPromise(call(client as never)),
  });
  const requests = () => asked.length + retrieved;
  return { asked, due: parts["due payouts"], look: parts["settled payouts"], requests, watermark };
};

/** Payouts of the ledger that have settled, a second after each other. */
const make = async (from: number, to: number, settled: Map<string, number>, everyMs = 1_000) => {
  for (let n = from; n < to; n += 1) {
    await putRow(ledger, { workflowId: `w-${n}`, state: "done", madeId: `P-${n}` });
    settled.set(`P-${n}`, THEIRS + n * everyMs);
  }
};

const open = async () => (await ledger.openPayouts(ACCOUNT)).length;

describe("the list of payouts that have settled", () => {
  it("is read from the last completion on that the service has shown, by its clock, with an overlap", async () => {
    const settled = new Map<string, number>();
    const { asked, look, watermark } = serviceOf(settled, true);
    await make(0, 3, settled);
    // Without a watermark, an hour back by our clock is too late for this service.
    await look();
    expect([await open(), watermark()]).toEqual([3, undefined]);
    settled.set("P-2", THEIRS + 2 * HOUR);
    await look();
    expect([await open(), watermark()]).toEqual([2, THEIRS + 2 * HOUR]);
    // It was listed later than the one after it.
    settled.set("P-1", THEIRS + 2 * HOUR - 20_000);
    await look();
    expect(await open()).toBe(1);
    expect(asked.at(-1)).toMatchObject({ date_type: "settle_time" });
    expect(asked.at(-1)?.start).toBeGreaterThan(THEIRS + 2 * HOUR - 40_000);
    // A time that lies ahead is no completion, and hides no later one.
    settled.set("another", THEIRS + 900 * HOUR);
    await look();
    expect(watermark()).toBe(THEIRS + 2 * HOUR);
  });

  it("costs a page of a look if the service ignores the window, and nothing if it is said to", async () => {
    const settled = new Map<string, number>();
    await make(0, 200, settled, -HOUR);
    const ignoring = serviceOf(settled, false);
    await ignoring.look();
    await ignoring.look();
    expect(ignoring.asked.map(({ page_num }) => page_num)).toEqual([1, 1]);
    expect(ignoring.watermark()).toBeUndefined();
    const unasked = serviceOf(settled, true, { listWindow: "none" });
    await unasked.look();
    expect(unasked.asked).toEqual([]);
  });

  it("is not read while no payout is open, nor later what has settled in the meantime", async () => {
    const settled = new Map<string, number>();
    const { asked, look, watermark } = serviceOf(settled, true);
    await look();
    expect(asked).toEqual([]);
    await make(0, 1, settled, 0);
    settled.set("P-0", THEIRS + HOUR);
    await look();
    expect([await open(), watermark()]).toEqual([0, THEIRS + HOUR]);
    await look();
    expect([asked.length, watermark()]).toEqual([1, undefined]);
  });

  it("is read by shorter windows if more has settled than a look can read", async () => {
    const settled = new Map<string, number>();
    const { asked, look, watermark } = serviceOf(settled, true);
    await make(0, 1, settled);
    await putRow(ledger, { workflowId: "w-open", state: "done", madeId: "P-open" });
    settled.set("P-0", THEIRS + HOUR);
    await look();
    expect(watermark()).toBe(THEIRS + HOUR);
    // An outage: 12,000 payouts of others, and one of ours at their beginning.
    for (let n = 1; n <= 12_000; n += 1) settled.set(`other-${n}`, THEIRS + HOUR + n * 250);
    await make(1, 2, settled);
    settled.set("P-1", THEIRS + HOUR + 300);
    const looks: Array<number> = [];
    while (watermark() !== THEIRS + HOUR + 12_000 * 250 && looks.length < 30) {
      const before = asked.length;
      await look();
      looks.push(asked.length - before);
    }
    expect(Math.max(...looks)).toBeLessThanOrEqual(200);
    expect(looks.length).toBeLessThan(15);
    expect(await open()).toBe(1);
  });
});

describe("payouts that are due", () => {
  /** Payouts that were made one after another, hours ago by another clock than the service's. */
  const makeDue = async (count: number) => {
    const created = new Map<string, number>();
    for (let n = 0; n < count; n += 1) {
      const changedAt = THEIRS + n * 1_000;
      await putRow(ledger, { workflowId: `w-${n}`, state: "done", madeId: `P-${n}`, changedAt });
      created.set(`P-${n}`, changedAt - 5 * HOUR);
    }
    return created;
  };

  const turns = async (count: number, { due }: ReturnType<typeof serviceOf>) => {
    for (let turn = 0; turn < count; turn += 1) await due();
    return (await ledger.duePayouts(ACCOUNT, 1_000)).length;
  };

  it("are read fifty for a request, if they are more than the requests are enough for", async () => {
    const service = serviceOf(new Map(), true, {}, await makeDue(600));
    // The first turn learns by how much the clocks differ.
    expect(await turns(1, service)).toBe(590);
    expect(await turns(6, service)).toBe(0);
    expect(service.requests()).toBeLessThanOrEqual(60);
    expect(service.asked.every(({ date_type }) => date_type === "create_time")).toBe(true);
  });

  it.each([
    ["shows nothing of a window", true, {}, new Map<string, number>(), 1],
    ["is said to have no windows", true, { listWindow: "none" }, undefined, 0],
  ] as const)(
    "are read one by one if the service %s, the longest due first",
    async (_, honours, assumptions, shown, lists) => {
      const created = await makeDue(100);
      const service = serviceOf(new Map(), honours, assumptions, shown ?? created);
      expect(await turns(3, service)).toBe(70 + lists);
      expect(service.asked).toHaveLength(lists);
      expect(service.requests()).toBe(30);
      const left = await ledger.duePayouts(ACCOUNT, 100);
      expect(left.map(({ madeId }) => madeId)).not.toContain("P-0");
    },
  );

  it("delay no other if the service breaks at one of them, and wait while it breaks at all", async () => {
    const created = await makeDue(30);
    const isFirst = (payout_id: string) => payout_id === "P-0";
    const one = serviceOf(new Map(), true, { listWindow: "none" }, created, isFirst);
    expect(await turns(1, one)).toBe(20);
    const all = serviceOf(new Map(), true, { listWindow: "none" }, created, () => true);
    await expect(all.due()).rejects.toThrow("It broke.");
  });
});
