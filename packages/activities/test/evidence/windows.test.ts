import { defaultAssumptions, type Page, RequestRefused } from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import type { KnownRow, SentWithin } from "../../src/evidence/row-age.ts";
import {
  type Need,
  type Rows,
  type WindowOptions,
  WindowReadings,
} from "../../src/evidence/windows.ts";
import { ROW } from "../support/rows.ts";

/*
 * Every history of an account, read from services that honour a window, ignore it, shift it, or honour half of it. A
 * reading that may be believed lists what was made: otherwise it would be made twice.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SENT = Date.parse("2026-11-21T12:34:56Z");
const UNTIL = SENT + 41 * SECOND;

interface Row {
  readonly payout_id: string;
  /** By the service's clock. */
  readonly created: number;
  readonly completed: number | undefined;
}

interface Item {
  readonly payout_id: string;
  readonly create_time: string;
  readonly complete_time?: string;
}

/** Whether a service lists a row in a window that begins at a time. */
type Filter = (row: Row, start: number) => boolean;

const dayOf = (time: number) => Math.floor(time / DAY) * DAY;
const shifted =
  (by: number): Filter =>
  ({ created }, start) =>
    created >= start + by;
const forAtMost =
  (span: number): Filter =>
  ({ created }, start) =>
    created >= start && created < start + span;

const SERVICES: Readonly<Record<string, Filter>> = {
  "honours it": shifted(0),
  "excludes its bound": shifted(1),
  "ignores it": () => true,
  "lists nothing in it": () => false,
  "is a second late": shifted(SECOND),
  "is ten minutes late": shifted(10 * MINUTE),
  "is in a zone further west": shifted(8 * HOUR),
  "is in a zone further east": shifted(-8 * HOUR),
  "is a day late": shifted(DAY),
  "takes milliseconds for seconds": ({ created }, start) => created >= start * SECOND,
  "takes seconds for milliseconds": ({ created }, start) => created >= start / SECOND,
  "takes its start for its end": ({ created }, start) => created <= start,
  "begins it with the day": ({ created }, start) => created >= dayOf(start),
  "begins it with the next day": ({ created }, start) => dayOf(created) >= start,
  "filters by days": ({ created }, start) => dayOf(created) === dayOf(start),
  "filters by settle_time": ({ completed }, start) => (completed ?? -Infinity) >= start,
  "filters by settle_time, eight hours late": ({ completed }, start) =>
    (completed ?? -Infinity) >= start + 8 * HOUR,
  "filters by update_time": ({ completed, created }, start) => (completed ?? created) >= start,
  "ends it after a minute": forAtMost(MINUTE),
  "ends it after an hour": forAtMost(HOUR),
  "ends it after a day": forAtMost(DAY),
  "refuses it": () => {
    throw new RequestRefused({
      operation: "listPayouts",
      carriedOut: "no",
      message: "start_time is unknown",
      code: 400,
      reason: "start_time is unknown",
    });
  },
};

interface History {
  /** How often the account pays, before and after. */
  readonly every: number;
  /** How many payouts the account has made since the send had ended. */
  readonly after: number;
  readonly settlesAfter: number;
  readonly ahead: number;
  /** How far the service's clock was set back, right before the send or after it; below zero: ahead. */
  readonly setBack: number;
  readonly setAt: number;
  /** When it was set right again; left out: never. */
  readonly rightAt?: number;
  /** Whether what was made has settled as the others do, never will, or was not made. */
  readonly ours: "settles" | "never settles" | "not made";
  /** How many payouts are made before each answer. */
  readonly growth: number;
  /** How late the ledger has recorded every fourth payout, because its response was lost. */
  readonly late?: number;
  /** How many payouts it has made right before the send; default: 12. */
  readonly before?: number;
  /** How many payouts the ledger does not know that were sent with it, in an outage. */
  readonly lost?: number;
}

const all = <A extends object>(choices: { readonly [K in keyof A]: ReadonlyArray<A[K]> }) =>
  Object.entries(choices).reduce<ReadonlyArray<A>>(
    (some, [name, values]) =>
      some.flatMap((one) =>
        (values as ReadonlyArray<unknown>).map((value) => ({ ...one, [name]: value })),
      ),
    [{} as A],
  );

const HISTORIES = all<History>({
  every: [5 * SECOND, 2 * MINUTE, 2 * HOUR],
  after: [0, 4, 50],
  settlesAfter: [0, 3 * SECOND, HOUR, 3 * DAY],
  ahead: [-7 * HOUR],
  setBack: [0, HOUR, 20 * HOUR, -30 * DAY],
  setAt: [SENT, UNTIL],
  ours: ["settles", "never settles", "not made"],
  growth: [0, 1],
})
  .filter(({ after, setBack }) => after < 50 || setBack > 0)
  .map((history) => ({
    ...history,
    late: history.growth * 4 * MINUTE,
    lost: history.growth === 0 && history.every === 2 * MINUTE ? 60 : 0,
    // Half of those that follow were made while it was wrong.
    ...(history.after === 50 && { rightAt: UNTIL + (history.after * history.every) / 2 }),
  }));

/** The payouts of the ledger, as it has recorded them, and all that the service has. */
const accountOf = (history: History) => {
  const {
    after,
    ahead,
    before = 12,
    every,
    late = 0,
    lost = 0,
    ours,
    rightAt = Infinity,
    setAt,
    setBack,
    settlesAfter,
  } = history;
  const times = [
    ...[60, 30, 3, 2].map((days) => SENT - days * DAY),
    ...Array.from({ length: 12 }, (_, at) => SENT - 40 * MINUTE - (12 - at) * every),
    ...Array.from({ length: before }, (_, at) => SENT - (before - at) * every),
    ...Array.from({ length: after }, (_, at) => UNTIL + (at + 1) * every),
  ].toSorted((one, other) => one - other);
  const readAt = Math.max(...times, UNTIL) + HOUR;
  const rowOf = (payout_id: string, at: number, settles = true): Row => {
    const clock = (time: number) => time + ahead - (time > setAt && time <= rightAt ? setBack : 0);
    const isSettled = settles && at + settlesAfter <= readAt;
    const completed = isSettled ? clock(at + settlesAfter) : undefined;
    return { payout_id, created: clock(at), completed };
  };
  const known = times.map((at, index) => rowOf(`P${index}`, at + 400));
  const own = ours === "not made" ? [] : [rowOf("ours", SENT + 500, ours === "settles")];
  // Payouts that the ledger does not know, so that a page does not hold everything.
  const others = [
    ...Array.from({ length: 60 }, (_, at) => rowOf(`X${at}`, SENT - at * 7 * HOUR)),
    ...Array.from({ length: lost }, (_, at) => rowOf(`L${at}`, SENT + at * 10)),
  ];
  const recordOf = ({ created, payout_id }: Row, at: number) => ({
    ...ROW,
    madeId: payout_id,
    createdAt: at,
    changedAt: at + 900 + (Number(payout_id.slice(1)) % 4 === 0 ? late : 0),
    result: { create_time: isoOf(created) },
  });
  const recorded = known.map((row, index) => recordOf(row, times[index] ?? 0));
  const listed = [...known, ...own, ...others].toSorted(
    (one, other) => one.created - other.created,
  );
  let growth = 0;
  /** Makes a payout while the list is read. The ledger knows every second one. */
  const grow = () => {
    growth += 1;
    const at = readAt + growth * SECOND;
    const row = rowOf(`N${growth}`, at);
    listed.push(row);
    if (growth % 2 === 0) recorded.push(recordOf(row, at));
  };
  return { grow, listed, recorded };
};

const isoOf = (time: number) => new Date(time).toISOString();

/** A reading of a window, and the number of requests that it took. */
const readOf = async (
  history: History,
  filter: Filter,
  Readings: typeof WindowReadings<Item>,
  {
    countsAll = false,
    isFinal = true,
    sharedWith = [],
  }: {
    readonly countsAll?: boolean;
    readonly isFinal?: boolean;
    readonly sharedWith?: ReadonlyArray<SentWithin>;
  } = {},
) => {
  const { grow, listed, recorded } = accountOf(history);
  const counts = { requests: 0 };
  const read: WindowOptions<Item>["read"] = async (page_num, window): Promise<Page<Item>> => {
    counts.requests += 1;
    const { start } = window ?? {};
    for (let nth = 0; nth < history.growth; nth++) grow();
    const rows = history.every === 2 * MINUTE ? listed.toReversed() : listed;
    const shown = start === undefined ? rows : rows.filter((row) => filter(row, start));
    return {
      total_item: (countsAll ? rows : shown).length,
      total_page: Math.ceil(shown.length / 50),
      item_list: shown
        .slice((page_num - 1) * 50, page_num * 50)
        .map(({ completed, created, payout_id }) => ({
          payout_id,
          create_time: isoOf(created),
          ...(completed !== undefined && { complete_time: isoOf(completed) }),
        })),
      unreadable: [],
    };
  };
  const readings = new Readings({
    account: "a",
    assumptions: defaultAssumptions,
    list: { idField: "payout_id", pageSize: 50, mostPages: 100 },
    ledger: {
      owners: async (_account, _operation, ids) =>
        new Map(
          recorded
            .filter(({ madeId }) => ids.includes(madeId))
            .map((row) => [row.madeId, { ...row, recordedAt: row.changedAt }]),
        ),
      payoutsNear: async (_account, side, time, limit) =>
        (side === "until"
          ? recorded.filter(({ createdAt }) => createdAt <= time).toReversed()
          : recorded.filter(({ createdAt }) => createdAt > time)
        ).slice(0, limit),
    },
    read,
  });
  const find = (sent: SentWithin) => readings.read({ ...ROW, ...sent }, isFinal, () => false);
  const [found] = await Promise.all([{ from: SENT, until: UNTIL }, ...sharedWith].map(find));
  return { ...counts, found };
};

/** The first history in which a believed reading lacks what was made. */
const wrongIn = async (Readings: typeof WindowReadings<Item>): Promise<string | undefined> => {
  for (const [service, filter] of Object.entries(SERVICES))
    for (const history of HISTORIES) {
      if (history.ours === "not made") continue;
      const { found } = await readOf(history, filter, Readings);
      const isListed = found?.items.some(({ payout_id }) => payout_id === "ours") ?? true;
      if (!isListed && found?.fault === undefined) return `${service}: ${JSON.stringify(history)}`;
    }
  return undefined;
};

describe("a window of a list", () => {
  it("never proves that a payout was not made which was, whatever the service does with it", async () => {
    expect(await wrongIn(WindowReadings)).toBeUndefined();
  });

  it.each<[string, typeof WindowReadings<Item>]>([
    [
      "begins at the send, without a margin",
      class extends WindowReadings<Item> {
        protected override horizon({ from }: SentWithin, known: ReadonlyArray<KnownRow>): number {
          const before = known.filter(({ recordedAt }) => recordedAt < (from ?? 0));
          return Math.max(...before.map(({ created }) => Date.parse(String(created))));
        }
      },
    ],
    [
      "begins at the send by the ledger's clock",
      class extends WindowReadings<Item> {
        protected override horizon({ from }: SentWithin): number {
          return (from ?? 0) - 15 * MINUTE;
        }
      },
    ],
    [
      "is believed without a known payout at its edge",
      class extends WindowReadings<Item> {
        protected override isAtEdge(): boolean {
          return true;
        }
      },
    ],
    [
      "is believed without a second one",
      class extends WindowReadings<Item> {
        protected override isByCreateTime(): boolean {
          return true;
        }
      },
    ],
    [
      "is believed after one page of the second",
      class extends WindowReadings<Item> {
        protected override isByCreateTime(known: Item, second: Rows<Item>): boolean {
          const items = second.items.slice(0, 50);
          return super.isByCreateTime(known, { ...second, items, fault: undefined });
        }
      },
    ],
  ])("would prove it if it %s", async (_, Readings) => {
    expect(await wrongIn(Readings)).toBeDefined();
  });

  const HONEST = SERVICES["honours it"] as Filter;
  const usual = (changes: Partial<History> = {}): History => ({
    every: 2 * HOUR,
    after: 4,
    settlesAfter: HOUR,
    ahead: 0,
    setBack: 0,
    setAt: SENT,
    ours: "not made",
    growth: 0,
    ...changes,
  });

  it.each([
    [{}],
    [{ after: 0 }],
    [{ settlesAfter: 3 * SECOND }],
    [{ ahead: -DAY }],
    // The results that were recorded last are not those of the newest payouts.
    [{ every: 25 * SECOND, before: 81, late: 595 * SECOND }],
    [{ every: 25 * SECOND, before: 81, late: 595 * SECOND, settlesAfter: 3 * SECOND }],
  ])("is enough, and takes two requests: %j", async (changes) => {
    const { found, requests } = await readOf(usual(changes), HONEST, WindowReadings);
    expect(found).toMatchObject({ fault: undefined });
    expect(requests).toBe(2);
    const made = await readOf(usual({ ...changes, ours: "settles" }), HONEST, WindowReadings);
    expect(made.found?.items.map(({ payout_id }) => payout_id)).toContain("ours");
  });

  it("serves the first of the sends that share it", async () => {
    const history = usual({ after: 8, ours: "settles" });
    const from = UNTIL + 9 * HOUR;
    const sharedWith = [{ from, until: from + MINUTE }];
    const idsIn = async (Readings: typeof WindowReadings<Item>) => {
      const { found } = await readOf(history, HONEST, Readings, { sharedWith });
      return found?.items.map(({ payout_id }) => payout_id);
    };
    expect(await idsIn(WindowReadings)).toContain("ours");
    class Last extends WindowReadings<Item> {
      protected override sentOf(needs: ReadonlyArray<Need>): ReadonlyArray<Need> {
        return super.sentOf(needs.slice(-1));
      }
    }
    expect(await idsIn(Last)).not.toContain("ours");
  });

  it("serves a send while the clock was wrong that shares it with one since it is right", async () => {
    const wrong = { setBack: 20 * HOUR, setAt: SENT - 1, rightAt: UNTIL + 50 * MINUTE };
    const history = usual({ every: 2 * MINUTE, after: 50, ours: "settles", ...wrong });
    const from = UNTIL + HOUR;
    const sharedWith = [{ from, until: from + MINUTE }];
    const { found } = await readOf(history, HONEST, WindowReadings, { sharedWith });
    expect(found?.items.map(({ payout_id }) => payout_id)).toContain("ours");
  });

  it.each(
    Object.keys(SERVICES).filter((name) => !/^(honours|excludes|is a second late)/.test(name)),
  )("is not believed if the service %s: the whole list is read", async (name) => {
    const filter = SERVICES[name] as Filter;
    // Of what ends early, the part that is shown is honoured.
    const every = name.startsWith("ends") ? 2 * MINUTE : 2 * HOUR;
    const { found } = await readOf(usual({ every, after: 0 }), filter, WindowReadings);
    expect(found).toBeUndefined();
  });

  it.each([3 * SECOND, HOUR, 3 * DAY])(
    "is enough in an outage, though its pages are many: completions after %i ms",
    async (settlesAfter) => {
      const { found } = await readOf(
        usual({ lost: 120, after: 0, settlesAfter }),
        HONEST,
        WindowReadings,
      );
      expect(found).toMatchObject({ fault: undefined });
    },
  );

  it("shows what was made, though the service ends it right before that: the second one shows it", async () => {
    const history = usual({ after: 0, ours: "settles" });
    const { found } = await readOf(history, forAtMost(2 * DAY), WindowReadings);
    expect(found?.items.map(({ payout_id }) => payout_id)).toContain("ours");
  });

  // Several pages in a window, the newest row first, and half a page is made before each answer.
  const GROWING = usual({ every: 2 * MINUTE, after: 40, growth: 25, settlesAfter: 3 * DAY });

  it("is read again later if payouts are made while it is read, and the whole list is not", async () => {
    const { found } = await readOf(GROWING, HONEST, WindowReadings);
    expect(found?.fault).toMatch(/were listed, but total_item is/);
  });

  it.each([0, 1, 25])(
    "is not believed if the service counts the whole list: growth of %i",
    async (growth) => {
      const history = { ...GROWING, growth };
      const { found } = await readOf(history, HONEST, WindowReadings, { countsAll: true });
      expect(found).toBeUndefined();
    },
  );

  it("that proves nothing lists what was made, though no reader needs an end of its send", async () => {
    const history = usual({ after: 0, ours: "never settles" });
    const { found, requests } = await readOf(history, HONEST, WindowReadings, { isFinal: false });
    expect(found?.items.map(({ payout_id }) => payout_id)).toContain("ours");
    expect(requests).toBe(1);
  });
});
