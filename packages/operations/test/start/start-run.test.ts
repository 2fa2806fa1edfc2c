import { PAYMENT_ACCOUNT, pauseId, settlementId, trackerId } from "@durable-payments/protocol";
import { payout } from "@durable-payments/tools/test-data";
import { defaultPayloadConverter } from "@temporalio/common";
import { expect, it } from "vitest";
import { temporalSettings } from "../../src/connection/settings.ts";
import { withTemporal } from "../../src/connection/temporal.ts";
import { readAssumptions } from "../../src/input/check-run-file.ts";
import { planPayout } from "../../src/input/payout.ts";
import { startRun } from "../../src/start/start-run.ts";
import { NO_JOURNAL } from "../support/no-journal.ts";
import { TemporalStub, type Visibility } from "../support/temporal-stub.ts";

const ACCOUNT = "0123456789abcdef";
const planned = planPayout({ beneficiary_id: "b-1", payout }, readAssumptions());

/** The account that a run is started with, where visibility answers so. */
const startWith = async (visibility: Visibility, name?: string): Promise<unknown> => {
  const planned = planPayout(
    { beneficiary_id: "b-1", payout, ...(name !== undefined && { account: name }) },
    readAssumptions(),
  );
  const stub = new TemporalStub(visibility);
  try {
    const settings = temporalSettings({ TEMPORAL_ADDRESS: await stub.listen() });
    const run = await withTemporal(settings, (temporal) =>
      startRun(temporal, "invoice-1", planned, { startedBy: "Ada", journal: NO_JOURNAL }),
    );
    expect(run).toEqual({ workflowId: "invoice-1", runId: "run-1", state: "running", isNew: true });
  } finally {
    stub.close();
  }
  const [start, ...others] = stub.started;
  expect(others).toEqual([]);
  const account = start?.searchAttributes?.indexedFields?.[PAYMENT_ACCOUNT.name];
  return account && defaultPayloadConverter.fromPayload(account);
};

it.each([
  settlementId("run-1", "createPayout"),
  pauseId("payments"),
  "",
  "half\uD83D",
  "nul\u0000",
])("no run is started under the id %j", async (workflowId) => {
  const stub = new TemporalStub([]);
  try {
    const settings = temporalSettings({ TEMPORAL_ADDRESS: await stub.listen() });
    const asked = withTemporal(settings, (temporal) =>
      startRun(temporal, workflowId, planned, { startedBy: "Ada", journal: NO_JOURNAL }),
    );
    await expect(asked).rejects.toMatchObject({ _tag: "InvalidInput" });
    expect(stub.started).toEqual([]);
  } finally {
    stub.close();
  }
});

it.each<[string, Visibility, unknown]>([
  ["of the one tracker of its workers", [trackerId(ACCOUNT)], ACCOUNT],
  ["of none, where there is no tracker", [], undefined],
  ["of none, where there are several", [trackerId(ACCOUNT), trackerId("f".repeat(16))], undefined],
])("a run is started with the account %s", async (_, visibility, account) => {
  expect(await startWith(visibility)).toBe(account);
});

it.each([
  ["of that name, where the workers have several", "eu", ACCOUNT],
  ["without a name, where it names none", undefined, "00000000000000ff"],
  ["that its first worker has by that name, where there is no tracker of it", "uk", undefined],
])("a run is started with the account %s", async (_, name, account) => {
  const visibility = [
    trackerId("00000000000000ff"),
    trackerId(ACCOUNT, "eu"),
    trackerId("00000000000000aa", "us"),
  ];
  expect(await startWith(visibility, name)).toBe(account);
});

it("a payout from another account is another payout, and an account must have a name", () => {
  const idOf = (account?: unknown) =>
    planPayout(
      { beneficiary_id: "b-1", payout, ...(account !== undefined && { account }) },
      readAssumptions(),
    ).contentId;
  expect(new Set([idOf(), idOf("eu"), idOf("us")]).size).toBe(3);
  for (const wrong of ["", "EU", "a/b", "x".repeat(41), 7, null]) {
    expect(() => idOf(wrong)).toThrow("The input is wrong");
  }
});

it.each<[string, Visibility]>([
  ["is down", 14],
  ["is overloaded", 8],
  ["is broken", 13],
  ["may not be read by who starts", 7],
  ["does not answer", "noAnswer"],
])(
  "a run is started within seconds, and asks its worker for the account, where visibility %s",
  async (_, visibility) => {
    expect(await startWith(visibility)).toBeUndefined();
  },
);
