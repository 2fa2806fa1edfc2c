import { defaultAssumptions } from "@durable-payments/api-core";
import { holding, jsonLines, makeRows } from "@durable-payments/tools/test-data";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { checkBatchFile, type CheckedFile } from "../../src/batch/check-file.ts";
import { importBatch, type ImportOptions } from "../../src/batch/import.ts";
import { temporalSettings } from "../../src/connection/settings.ts";
import { type Temporal, withTemporal } from "../../src/connection/temporal.ts";
import { planPayout } from "../../src/input/payout.ts";
import { startRun } from "../../src/start/start-run.ts";
import { NO_JOURNAL } from "../support/no-journal.ts";

const folder = await mkdtemp(join(tmpdir(), "two-consoles-"));
const environment = await createLocalEnvironment();
afterAll(async () => {
  await environment.teardown();
  await rm(folder, { recursive: true });
});

const connected = <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> =>
  withTemporal(temporalSettings({ TEMPORAL_ADDRESS: environment.address }), use);

const checkedFile = async (name: string): Promise<CheckedFile> => {
  const file = join(folder, `${name}.jsonl`);
  await writeFile(file, jsonLines(makeRows(name, 2)));
  return await checkBatchFile(file, defaultAssumptions);
};

/** Imports that all have compared and written the file before the first of them starts it. */
const importAtOnce = (checked: CheckedFile, all: ReadonlyArray<Partial<ImportOptions>>) => {
  let written = 0;
  const { promise: isWritten, resolve } = Promise.withResolvers<void>();
  const barrier = (): void => {
    written += 1;
    if (written === all.length) resolve();
  };
  return Promise.allSettled(
    all.map((options) =>
      connected((temporal) => {
        const { client } = temporal;
        const start = client.workflow.start.bind(client.workflow);
        vi.spyOn(client.workflow, "start").mockImplementation(async (type, given) => {
          if (type === "payoutBatch") {
            barrier();
            await isWritten;
          }
          return await start(type, given);
        });
        return importBatch(
          temporal,
          checked,
          {
            startedBy: "Ada",
            approveAbove: undefined,
            window: undefined,
            overrule: undefined,
            journal: { clientId: "nobody", journal: `sqlite:${join(folder, "none.sqlite")}` },
            ...options,
          },
          {
            onRows: () => undefined,
            onFound: () => undefined,
            onChunk: () => undefined,
            onWritten: () => undefined,
          },
        );
      }),
    ),
  );
};

const outcomeOf = (settled: PromiseSettledResult<{ readonly outcome: string }>): unknown =>
  settled.status === "fulfilled" ? settled.value.outcome : settled.reason;

it.each<[string, Partial<ImportOptions>]>([
  ["somebody else", { startedBy: "Bob" }],
  ["another approval", { approveAbove: "1.00" }],
  ["both", { startedBy: "Bob", approveAbove: "1.00" }],
])("of two imports at once, with %s, one is refused", async (name, options) => {
  const checked = await checkedFile(name);
  const [first, second] = (await importAtOnce(checked, [{}, options])).map(outcomeOf);
  const refusal = { _tag: "Refused", message: holding("was started meanwhile, by ") };
  expect([first, second]).toContain("started");
  expect(first === "started" ? second : first).toMatchObject(refusal);
});

it("of two equal imports at once one is started, and the other is answered that it runs", async () => {
  const outcomes = await importAtOnce(await checkedFile("equal"), [{}, {}]);
  expect(outcomes.map(outcomeOf)).toEqual(expect.arrayContaining(["running", "started"]));
});

it("of ten equal starts at once one has started the run", async () => {
  const [{ beneficiary, payout }] = makeRows("ten", 1) as [ReturnType<typeof makeRows>[number]];
  const planned = planPayout({ beneficiary, payout }, defaultAssumptions);
  const runs = await Promise.all(
    Array.from({ length: 10 }, () =>
      connected((temporal) =>
        startRun(temporal, "ten", planned, { startedBy: "Ada", journal: NO_JOURNAL }),
      ),
    ),
  );
  expect(runs.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(runs.map((run) => "runId" in run && run.runId)).size).toBe(1);
});

it.each<[string, Partial<CheckedFile>]>([
  ["totals", { totals: { EUR: "0.01" } }],
  ["batch id", { batch: "of a payout" }],
])("a checked file with other %s starts nothing", async (name, change) => {
  const checked = { ...(await checkedFile(`changed ${name}`)), ...change };
  const [outcome] = await importAtOnce(checked, [{ approveAbove: "100.00" }]);
  expect(outcome && outcomeOf(outcome)).toMatchObject({
    _tag: "Refused",
    message: holding("is not what was checked"),
  });
  const { workflow } = environment.client;
  await expect(workflow.getHandle(checked.batch).describe()).rejects.toThrow("not found");
});
