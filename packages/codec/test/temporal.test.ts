import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { Client, WorkflowFailedError } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  decodeMessage,
  encryptedDataConverter,
  failureConverterPath,
  makeEncryptionCodec,
  openKeyring,
} from "../src/index.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";
import { failWith, goOn, handOn } from "./support/workflows.ts";

const IBAN = "DE89370400440532013000";
const TOLD = "born on 1815-12-10";
const NAMESPACE = "default";
const WITHIN = { timeout: 120_000, interval: 50 };

let environment: Awaited<ReturnType<typeof createLocalEnvironment>>;
beforeAll(async () => {
  environment = await createLocalEnvironment();
});
afterAll(() => environment.teardown());

const workflowsPath = fileURLToPath(new URL("support/workflows.ts", import.meta.url));

/** A worker and a client whose keys are in one folder. */
const makeRig = async (taskQueue: string) => {
  const keyring = await makeKeyringFolder();
  // Each use is that of a process that has not used a key before: a removed one is missed at once.
  const codec = () =>
    makeEncryptionCodec({ namespace: NAMESPACE, keys: openKeyring(keyring.folder) });
  const dataConverter = {
    payloadCodecs: [
      {
        encode: (payloads: Array<Payload>) => codec().encode(payloads),
        decode: (payloads: Array<Payload>) => codec().decode(payloads),
      },
    ],
    failureConverterPath,
  };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    namespace: NAMESPACE,
    taskQueue,
    workflowsPath,
    activities: { verify: async (iban: string) => `${iban} is in use` },
    dataConverter,
    maxCachedWorkflows: 0,
  });
  const client = new Client({
    connection: environment.connection,
    namespace: NAMESPACE,
    dataConverter: encryptedDataConverter({
      namespace: NAMESPACE,
      keys: openKeyring(keyring.folder),
    }),
  });
  return { ...keyring, client, dataConverter, worker };
};

const bytesOf = (history: temporal.api.history.v1.IHistory): string =>
  Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString("latin1");

it("Temporal stores no value of a run, and whoever has the keys reads and replays its history", async () => {
  const { client, dataConverter, worker } = await makeRig("encrypted");
  await worker.runUntil(async () => {
    const started = { taskQueue: "encrypted", workflowId: "pays", args: [IBAN] as [string] };
    const handle = await client.workflow.start<typeof handOn>(handOn, started);
    await handle.signal(goOn, TOLD);
    expect(await handle.result()).toEqual([`${IBAN} is in use`, TOLD]);
    const failing = { taskQueue: "encrypted", workflowId: "fails", args: [IBAN] as [string] };
    const failure: unknown = await client.workflow
      .execute<typeof failWith>(failWith, failing)
      .catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect(failure).toMatchObject({ cause: { message: `no account ${IBAN}`, details: [IBAN] } });
  });
  for (const workflowId of ["pays", "fails"]) {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    expect(bytesOf(history)).not.toContain(IBAN);
    expect(bytesOf(history)).not.toContain("no account");
    expect(bytesOf(history)).not.toContain("1815");
    await decodeMessage(history, dataConverter);
    expect(bytesOf(history)).toContain(IBAN);
    await Worker.runReplayHistory({ workflowsPath }, history, workflowId);
  }
});

it("a run that needs a key which is missing waits, and goes on when it is put back", async () => {
  const { addKey, client, dataConverter, makeCurrent, putBack, removeKey, worker } =
    await makeRig("missing");
  const started = { taskQueue: "missing", workflowId: "waits", args: [IBAN] as [string] };
  const handle = await client.workflow.start<typeof handOn>(handOn, started);
  await addKey("k2");
  await makeCurrent("k2");
  await removeKey("k1");
  await worker.runUntil(async () => {
    await vi.waitFor(async () => {
      const { events } = await handle.fetchHistory();
      const failed = (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes);
      await decodeMessage({ events: failed }, dataConverter);
      expect(bytesOf({ events: failed })).toContain("The key k1 is missing");
    }, WITHIN);
    await putBack("k1");
    await handle.signal(goOn, TOLD);
    expect(await handle.result()).toEqual([`${IBAN} is in use`, TOLD]);
  });
});
