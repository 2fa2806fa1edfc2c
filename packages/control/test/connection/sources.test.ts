import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openWorkersLedger } from "../../src/facts/connection/connections.ts";
import { Connections } from "../../src/facts/connection/open-connections.ts";
import { temporalSettings } from "../../src/facts/connection/temporal.ts";
import { changing } from "../../src/facts/connection/temporal-errors.ts";
import { TemporalStub } from "../support/temporal-stub.ts";

const folder = await mkdtemp(join(tmpdir(), "operations-"));
afterAll(() => rm(folder, { recursive: true }));

const unreachable = () => temporalSettings({ TEMPORAL_ADDRESS: "127.0.0.1:9" });

it("makes no ledger where no worker has made one: it would read as if nothing had been sent", async () => {
  const missing = openWorkersLedger({ ledger: `sqlite:${join(folder, "none")}`, clientId: "c" });
  await expect(missing).rejects.toMatchObject({
    name: "ConnectionFailed",
    reason: "ledgerUnavailable",
    message: expect.stringContaining("there is no file") as unknown,
  });
});

it("reads the ledger where Temporal cannot be reached, and says so", async () => {
  const file = join(folder, "ledger.sqlite");
  await (await openLedger(`sqlite:${file}`)).close();
  const ledger = { ledger: `sqlite:${file}`, clientId: undefined };
  await using connections = new Connections({
    temporal: unreachable,
    ledger,
    accounts: [],
    assumptionsOf: () => defaultAssumptions,
  });
  const seen = await connections.sources((sources) =>
    Promise.resolve([sources.ledger !== undefined, sources.temporal, sources.whyNot]),
  );
  expect(seen).toEqual([true, undefined, [expect.stringContaining("Cannot connect to Temporal")]]);
});

it("rejects where neither can be reached, with both reasons", async () => {
  await using connections = new Connections({
    temporal: unreachable,
    ledger: { ledger: undefined, clientId: undefined },
    accounts: [],
    assumptionsOf: () => defaultAssumptions,
  });
  const nothing = connections.sources(() => Promise.resolve());
  await expect(nothing).rejects.toThrow(/Cannot connect to Temporal.*ledger cannot be used/s);
});

it("starts nothing on a ledger of another namespace, whose workers would not run it", async () => {
  await using connected = await TemporalStub.connect([]);
  const file = join(folder, "other-namespace.sqlite");
  const worker = await openLedger(`sqlite:${file}`);
  await worker.pin("production");
  await worker.close();
  await using connections = new Connections({
    temporal: () => connected.temporal.settings,
    ledger: { ledger: `sqlite:${file}`, clientId: "c" },
    accounts: [{ name: undefined, hash: "hash" }],
    assumptionsOf: () => defaultAssumptions,
  });
  await expect(connections.both(() => Promise.resolve())).rejects.toThrow(
    /belongs to the Temporal namespace production, but this namespace is/,
  );
});

it("says that what was asked may have been done, where Temporal gives no answer", async () => {
  await using connected = await TemporalStub.connect([]);
  const mayBe = "The run may have been started";
  const lost = Object.assign(new Error("14 UNAVAILABLE: lost"), {
    code: 14,
    details: "lost",
    metadata: new Map(),
  });
  const change = changing(connected.temporal, "i-1", mayBe, () => Promise.reject(lost));
  await expect(change).rejects.toMatchObject({
    carriedOut: "unknown",
    message: expect.stringContaining("The run may have been started") as unknown,
    next: { action: "show", workflowId: "i-1" },
  });
});

it("ends what nobody waits for any more once it is closed, in the place of its next retry", async () => {
  await using connected = await TemporalStub.connect([]);
  const asked = Promise.withResolvers<void>();
  connected.stub.down = () => asked.resolve();
  const { client, close } = connected.temporal;
  const left = client.workflow.getHandle("i-1").describe();
  await asked.promise;
  await close();
  await expect(left).rejects.toMatchObject({ cause: { code: 1 } });
});
