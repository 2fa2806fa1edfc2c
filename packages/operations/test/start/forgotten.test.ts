import { openJournal } from "@durable-payments/journal";
import { clientHash } from "@durable-payments/protocol/account";
import { payout } from "@durable-payments/tools/test-data";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { readAssumptions } from "../../src/input/check-run-file.ts";
import { planPayout } from "../../src/input/payout.ts";
import { startRun } from "../../src/start/start-run.ts";
import { startServer } from "../support/server.ts";

const { connected, workflow } = await startServer();
const folder = await mkdtemp(join(tmpdir(), "forgotten-"));
afterAll(() => rm(folder, { recursive: true }));

const DAY_MS = 86_400_000;
const file = join(folder, "journal.sqlite");
const clientId = "client-1";
const options = { startedBy: "Ada", journal: { clientId, journal: `sqlite:${file}` } };

const send = async (workflowId: string, daysAgo: number): Promise<void> => {
  const journal = await openJournal({ _tag: "File", file }, clientHash({ clientId }));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - daysAgo * DAY_MS });
  try {
    const name = { workflowId, step: "createPayout", number: 1, operation: "createPayout" };
    const begun = await journal.begin({ ...name, runId: "r", payloadHash: "h" });
    if (begun._tag !== "Begun") throw new Error("It was sent already.");
    await begun.send.recordOutcome("carriedOut", { payout_id: "po-1" });
  } finally {
    vi.useRealTimers();
    await journal.close();
  }
};

it("no caller starts a run whose id Temporal has forgotten and the journal knows", () =>
  connected(async (temporal) => {
    const planned = planPayout({ beneficiary_id: "b-1", payout }, readAssumptions());
    await send("forgotten", 40);
    await send("lost", 0);
    expect(await startRun(temporal, "forgotten", planned, options)).toMatchObject({
      workflowId: "forgotten",
      state: "forgotten",
      isNew: false,
      isDone: true,
      sends: [{ operation: "createPayout", ids: { payout_id: "po-1" } }],
    });
    await expect(workflow.getHandle("forgotten").describe()).rejects.toThrow();
    // Temporal's database was put back: it takes up what the journal has.
    expect(await startRun(temporal, "lost", planned, options)).toMatchObject({ isNew: true });
    expect(await startRun(temporal, "new", planned, options)).toMatchObject({ isNew: true });
  }));

it.each([undefined, null, "Ada", { startedBy: "Ada" }, { startedBy: "Ada", journal: null }])(
  "no run is started with the options %j, which name no journal",
  (given) =>
    connected(async (temporal) => {
      const planned = planPayout({ beneficiary_id: "b-1", payout }, readAssumptions());
      // A caller without types can give anything.
      const asked = startRun(temporal, "untyped", planned, given as unknown as typeof options);
      await expect(asked).rejects.toMatchObject({ _tag: "InvalidInput" });
      await expect(workflow.getHandle("untyped").describe()).rejects.toThrow();
    }),
);
