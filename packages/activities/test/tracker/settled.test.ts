import {
  type Assumptions,
  defaultAssumptions,
  type ListPayoutsInput,
  type Payout,
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
) => {
  const asked: Array<ListPayoutsInput> = [];
  const listPayouts = (query: ListPayoutsInput) =>
    Effect.sync(() => {
      asked.push(query);
      const { end = Infinity, page_num, page_size, start = 0 } = query;
      const listed = [...settled]
        .filter(([, at]) => !honours || (at >= start && at <= end))
        .toSorted(([, one], [, other]) => other - one);
      const item_list = listed
        .slice((page_num - 1) * page_size, page_num * page_size)
        .map(([payout_id, at]): Payout => ({
          payout_id,
          payout_status: "completed",
          complete_time: new Date(at).toISOString(),
        }));
      const total_page = Math.ceil(listed.length / page_size);
      return { item_list, unreadable: [], total_page, total_item: listed.length };
    });
  const client = {
    options: { assumptions: { ...defaultAssumptions, ...assumptions } },
    rate: () => undefined,
    listPayouts,
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
  return { asked, look: parts["settled payouts"], watermark };
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
