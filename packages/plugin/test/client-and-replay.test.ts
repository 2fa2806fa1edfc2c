import { payout as payment } from "@durable-payments/tools/test-data/inputs";
import { accountHash } from "@durable-payments/protocol/account";
import { Client } from "@temporalio/client";
import { type PayloadCodec, ValueError } from "@temporalio/common";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { CannotStart, PaymentsPlugin } from "../src/index.ts";
import { bundleAhead, workflowsPath } from "./support/bundle.ts";
import { quiet } from "./support/quiet.ts";
import { makeRig } from "./support/rig.ts";

const { pay, settings, temporal } = await makeRig({ settleAfter: 0 });
const plugin = new PaymentsPlugin(settings);
const { connection } = temporal.client;

/** The search attributes with which a run is started. */
const startedWith = async (
  client: Client,
  type: string,
  workflowId: string,
  options: object = {},
) => {
  const handle = await client.workflow.start(type, {
    workflowId,
    taskQueue: "nobody-polls-it",
    args: [{ beneficiary_id: "b-1", payout: payment }],
    ...options,
  });
  const { events } = await handle.fetchHistory();
  const fields =
    events?.[0]?.workflowExecutionStartedEventAttributes?.searchAttributes?.indexedFields ?? {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, { data }]) => [name, Buffer.from(data ?? []).toString()]),
  );
};

it("a client starts payouts with their search attributes, unless they are given, and other runs as they are", async () => {
  const client = new Client({ connection, plugins: [plugin] });
  expect(await startedWith(client, "payout", "attributes")).toMatchObject({
    PaymentStage: '"createPayout"',
    PaymentCurrency: '"EUR"',
    PaymentAccount: JSON.stringify(accountHash(settings)),
    PaymentInDoubt: '"createPayout"',
  });
  const given = [{ key: { name: "PaymentStage", type: "KEYWORD" }, value: "mine" }];
  expect(await startedWith(client, "payout", "given", { typedSearchAttributes: given })).toEqual({
    PaymentStage: '"mine"',
  });
  const named = new PaymentsPlugin({
    ...settings,
    accounts: { eu: { clientId: "client-eu", apiKey: "key-eu" } },
  });
  const several = new Client({ connection, plugins: [named] });
  const accountOf = async (account: string) => {
    const args = [{ account, beneficiary_id: "b-1", payout: payment }];
    return (await startedWith(several, "payout", `of-${account}`, { args }))["PaymentAccount"];
  };
  const { baseUrl } = settings;
  expect(await accountOf("eu")).toBe(
    JSON.stringify(accountHash({ baseUrl, clientId: "client-eu" })),
  );
  // It is for the worker to say: that of the account without a name would be another one's.
  expect(await accountOf("us")).toBeUndefined();
  expect(await startedWith(client, "payInvoice", "own")).toEqual({});
  expect(await startedWith(client, "payout", "unfit", { args: ["?"] })).toEqual({});
  const amount = { beneficiary_id: "b-1", payout: { ...payment, amount: 10.5 } };
  expect(await startedWith(client, "payout", "number", { args: [amount] })).toEqual({});
  const beneficiary = { beneficiary_id: 7, payout: payment };
  expect(await startedWith(client, "payout", "id", { args: [beneficiary] })).toEqual({});
  const holder = { cardholder: { first_name: 1 }, card: {} };
  expect(await startedWith(client, "onboardCardholder", "holder", { args: [holder] })).toEqual({});
});

it("a client reads a memo that does not decode, its own codec or not", async () => {
  const refusing: PayloadCodec = {
    encode: async (payloads) => payloads,
    decode: async (payloads) => {
      if (
        payloads.some(({ metadata }) =>
          Buffer.from(metadata?.["encoding"] ?? []).equals(Buffer.from("binary/mine")),
        )
      ) {
        throw new ValueError("not mine");
      }
      return payloads;
    },
  };
  await connection.workflowService.startWorkflowExecution({
    namespace: "default",
    workflowId: "foreign",
    requestId: "foreign",
    workflowType: { name: "any" },
    taskQueue: { name: "nobody-polls-it" },
    memo: {
      fields: {
        note: { metadata: { encoding: Buffer.from("binary/mine") }, data: Buffer.from("?") },
        plain: { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from('"yes"') },
      },
    },
  });
  for (const dataConverter of [{}, { payloadCodecs: [refusing] }]) {
    const client = new Client({ connection, dataConverter, plugins: [plugin] });
    const { memo } = await client.workflow.getHandle("foreign").describe();
    expect(memo).toEqual({ note: { unreadable: "binary/mine" }, plain: "yes" });
  }
});

it("a history replays with it, from sources and from a bundle that was made ahead", async () => {
  const workflowBundle = await bundleAhead();
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "payments",
    workflowBundle,
    plugins: [plugin],
  });
  const history = await worker.runUntil(async () => {
    const handle = await pay("replayed");
    await handle.result();
    return handle.fetchHistory();
  });
  await Worker.runReplayHistory({ workflowsPath, plugins: [plugin] }, history, "replayed");
  await Worker.runReplayHistory({ workflowBundle, plugins: [plugin] }, history, "replayed");
  // What the code does is not what the run did.
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events ?? []) {
    if (scheduled?.activityType?.name === "createPayout")
      scheduled.activityType.name = "createCard";
  }
  await expect(
    Worker.runReplayHistory({ workflowBundle, plugins: [plugin] }, history, "replayed"),
  ).rejects.toThrow(/Nondeterminism/);
});

it("no worker is created where a workflow has the name of one of the project's", async () => {
  await expect(
    Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: "taken",
      workflowsPath: fileURLToPath(new URL("./support/taken-name.ts", import.meta.url)),
      plugins: [plugin],
    }),
  ).rejects.toThrow(
    new CannotStart(
      "Your workflows have names of workflows of @durable-payments/workflows: payout. Give yours other names.",
    ),
  );
  // What passes on the project's own workflow has its name rightly.
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("./support/passed-on.ts", import.meta.url)),
    plugins: [plugin],
    logger: quiet,
  });
  expect(code).toContain("passed on");
});

it("no run goes on where two workflows have one name that the bundler did not see", async () => {
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "taken",
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("./support/taken-name.cjs", import.meta.url)),
      plugins: [plugin],
      logger: quiet,
    }),
    plugins: [plugin],
  });
  await worker.runUntil(async () => {
    const handle = await temporal.client.workflow.start("other", {
      workflowId: "taken",
      taskQueue: "taken",
    });
    await vi.waitFor(
      async () => {
        const { events } = await handle.fetchHistory();
        const failed = events?.find((event) => event.workflowTaskFailedEventAttributes);
        expect(failed?.workflowTaskFailedEventAttributes?.failure?.message).toContain(
          "Two workflows have the name payout",
        );
      },
      { timeout: 120_000 },
    );
  });
});
