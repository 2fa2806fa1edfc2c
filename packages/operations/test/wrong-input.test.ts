import { type ClientOptions, defaultAssumptions } from "@durable-payments/api-core";
import { describe, expect, it } from "vitest";
import { approveUpdate } from "@durable-payments/protocol";
import { importBatch } from "../src/batch/import.ts";
import type { OpenedJournal } from "../src/connection/journal.ts";
import type { Temporal } from "../src/connection/temporal.ts";
import { decide } from "../src/decisions/decide.ts";
import { resolveRun } from "../src/decisions/resolve.ts";
import { settle } from "../src/decisions/settle.ts";
import { cancelRun, terminateRun } from "../src/ending/end-run.ts";
import { checkId } from "../src/input/planned-run.ts";
import { pauseSends } from "../src/pause/pause.ts";
import { recover } from "../src/recovery/recover.ts";
import { planRetryOf, retryRun } from "../src/retry/retry.ts";
import { retryMany } from "../src/retry/retry-many.ts";
import { listRuns } from "../src/runs/list.ts";
import { describeRun } from "../src/runs/state.ts";

/** Whoever reads anything of it has asked Temporal, the journal or the service. */
const unreachable = (): never => {
  throw new Error("something was asked");
};
// Nothing of them may be read, so nothing of them is there.
const temporal = new Proxy({}, { get: unreachable }) as Temporal;
const opened = new Proxy({}, { get: unreachable }) as OpenedJournal;
const service = new Proxy({}, { get: unreachable }) as ClientOptions;
const nothing = () => undefined;

type Operation = (given: unknown) => Promise<unknown>;

const checked = { file: "none.csv", batch: "payouts/0", rows: 1, totals: {}, chunks: ["hash"] };
const observer = { onRows: nothing, onFound: nothing, onChunk: nothing, onWritten: nothing };

const importWith = (more: Readonly<Record<string, unknown>>) =>
  importBatch(
    temporal,
    checked,
    {
      startedBy: "Ada",
      approveAbove: undefined,
      window: undefined,
      overrule: undefined,
      journal: { clientId: undefined, journal: undefined },
      ...more,
    },
    observer,
  );

// A caller without types can give anything.
const wrong: ReadonlyArray<readonly [string, Operation, ReadonlyArray<unknown>]> = [
  [
    "listRuns since",
    (since) => listRuns(temporal, { standing: [], since: since as Date }).next(),
    [new Date("x"), "7d", null],
  ],
  [
    "recover since",
    (since) => recover(temporal, opened, { by: "Ada", since: since as Date, service }),
    [new Date("x"), "2026-11-01", undefined],
  ],
  [
    "settle found",
    (found) =>
      settle(temporal, "invoice-1", {
        by: "Ada",
        reason: "listed",
        step: undefined,
        found: found as Readonly<Record<string, string>>,
      }),
    [
      {},
      { payout_id: "" },
      { payout_id: " " },
      { payout_id: "\u200B" },
      { payout_id: " 7d59" },
      { payout_id: "7d59\n" },
      { payout_id: 7 },
      { payout_id: "7d59", card_id: " " },
    ],
  ],
  ["importBatch window", (window) => importWith({ window }), [0, -1, 1.5, 1001, Number.NaN, "5"]],
  [
    "importBatch approveAbove",
    (approveAbove) => importWith({ approveAbove }),
    [1, "", "1e3", "-1", "1,000.00", null],
  ],
  [
    "retryMany rate",
    (rate) =>
      retryMany(temporal, [{ workflowId: "invoice-1", runId: "r" }], {
        by: "Ada",
        reason: "outage",
        from: undefined,
        patch: undefined,
        assumptions: defaultAssumptions,
        isDryRun: false,
        rate: rate as number,
      }),
    [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"],
  ],
];

const noOptions = [null, undefined, "options", []];
const id = "invoice-1";

// Each takes options of its own, and none of them takes none.
const takers: ReadonlyArray<readonly [string, (options: never) => unknown]> = [
  ["cancelRun", (options) => cancelRun(temporal, id, options)],
  ["decide", (options) => decide(temporal, id, approveUpdate, options)],
  ["importBatch", (options) => importBatch(temporal, checked, options, observer)],
  ["listRuns", (options) => listRuns(temporal, options).next()],
  ["pauseSends", (options) => pauseSends(temporal, options)],
  ["planRetryOf", (options) => planRetryOf(temporal, id, options)],
  ["recover", (options) => recover(temporal, opened, options)],
  ["resolveRun", (options) => resolveRun(temporal, id, options)],
  ["retryMany", (options) => retryMany(temporal, [], options)],
  ["retryRun", (options) => retryRun(temporal, id, options)],
  ["settle", (options) => settle(temporal, id, options)],
  ["terminateRun", (options) => terminateRun(temporal, id, options)],
];

describe.each(takers)("%s", (_, operation) => {
  it.each(noOptions.map((options) => ({ options })))(
    "takes no $options for options",
    async ({ options }) => {
      await expect(operation(options as never)).rejects.toMatchObject({ _tag: "InvalidInput" });
    },
  );
});

const notAnId = { _tag: "InvalidInput", message: expect.stringContaining("id") as unknown };

it.each([null, undefined, 7, {}, "", "half\uD83D"])("no run has the id %j", async (given) => {
  // A caller without types can give anything.
  const wrongId = given as string;
  await expect(describeRun(temporal, wrongId)).rejects.toMatchObject(notAnId);
  expect(() => checkId(wrongId)).toThrow(expect.objectContaining(notAnId));
});

describe.each(wrong)("%s", (_, operation, values) => {
  it.each(values.map((value) => ({ value })))("is wrong: $value", async ({ value }) => {
    await expect(operation(value)).rejects.toMatchObject({
      _tag: "InvalidInput",
      message: expect.stringMatching(/Nothing was (done|started)\.$/) as unknown,
    });
  });
});
