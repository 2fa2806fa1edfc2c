import { makePaymentsClient } from "@durable-payments/api-core";
import { openJournal, readJournalPlace } from "@durable-payments/journal";
import { PAYMENT_ACCOUNT, type PayoutInput } from "@durable-payments/protocol";
import { accountHash, clientHash } from "@durable-payments/protocol/account";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import type { payout as payoutWorkflow } from "@durable-payments/workflows";
import { WorkflowFailedError, type WorkflowStartOptions } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";

const WITHIN = { timeout: 120_000, interval: 50 };

const { folder, simulator: unnamed, start, temporal } = await makeRig({ settleAfter: 0 });
const [eu, us, shut] = (await Promise.all(
  ["eu", "us", "shut"].map((name) =>
    startSimulator({ settleAfter: 0, clientId: `client-${name}`, apiKey: `key-of-${name}` }),
  ),
)) as [Simulator, Simulator, Simulator];
const services = { eu, us, shut };

const journal = `sqlite:${join(folder, "journal.sqlite")}`;

beforeAll(async () => {
  writeFileSync(join(folder, "us.key"), `${us.apiKey}\n`);
  const file = join(folder, "accounts.json");
  const { clientId, url: baseUrl } = us;
  writeFileSync(
    file,
    JSON.stringify({
      // So slow that its runs are told from those of the others.
      eu: { clientId: eu.clientId, apiKey: eu.apiKey, baseUrl: eu.url, activitiesPerSecond: 2 },
      us: { clientId, apiKeyFile: "us.key", baseUrl },
      shut: { clientId: shut.clientId, apiKey: "wrong-key", baseUrl: shut.url },
    }),
  );
  start("../examples/worker.ts", {
    PAYMENTS_ACCOUNTS_FILE: file,
    PAYMENTS_JOURNAL: journal,
  });
});

afterAll(async () => {
  await Promise.all(Object.values(services).map((service) => service.stop()));
});

const beneficiaryAt = async ({ apiKey, clientId, url: baseUrl }: Simulator): Promise<string> => {
  const client = makePaymentsClient({ apiKey, baseUrl, clientId });
  try {
    return (await client.createBeneficiary(beneficiary)).beneficiary_id;
  } finally {
    await client.close();
  }
};

const pay = (
  input: PayoutInput,
  options: Partial<WorkflowStartOptions<typeof payoutWorkflow>> = {},
) =>
  temporal.client.workflow.start<typeof payoutWorkflow>("payout", {
    workflowId: randomUUID(),
    taskQueue: "payments",
    args: [input],
    ...options,
  });

const paidBy = async (service: Simulator): Promise<ReadonlyArray<string>> =>
  (await service.state()).payouts.map(({ payout_reference }) => payout_reference);

const hashOf = ({ clientId, url: baseUrl }: Simulator): string =>
  accountHash({ clientId, baseUrl });

describe("one worker of several accounts", () => {
  it("pays each run from its own account, exactly once, and without a name from the one without", async () => {
    const made = await Promise.all(
      (
        [
          ["eu", eu],
          ["us", us],
          [undefined, unnamed],
        ] as const
      ).map(async ([account, service]) => {
        const input = {
          beneficiary_id: await beneficiaryAt(service),
          payout: { ...payout, payout_reference: `of ${account ?? "none"}` },
          ...(account !== undefined && { account }),
        };
        return [await pay(input), service] as const;
      }),
    );
    for (const [run, service] of made) {
      expect(await run.result()).toMatchObject({ outcome: "completed" });
      const { typedSearchAttributes } = await run.describe();
      expect(typedSearchAttributes.get(PAYMENT_ACCOUNT)).toBe(hashOf(service));
    }
    expect(await paidBy(eu)).toEqual(["of eu"]);
    expect(await paidBy(us)).toEqual(["of us"]);
    expect(await paidBy(unnamed)).toEqual(["of none"]);
    // Each is in its own journal, of the same file.
    for (const { clientId } of [eu, us, unnamed]) {
      const client = clientHash({ clientId });
      const own = await openJournal(readJournalPlace(journal, client), client);
      const sent: Array<string> = [];
      for await (const { operation } of own.since(0)) sent.push(operation);
      await own.close();
      expect(sent).toEqual(["createPayout"]);
    }
  });

  it("asks the account of a lost answer alone what became of it", async () => {
    const beneficiary_id = await beneficiaryAt(us);
    const listed = () =>
      Promise.all(
        [unnamed, eu].map(async (service) => (await service.state()).requests["listPayouts"] ?? 0),
      );
    const before = await listed();
    await us.addFault({ kind: "dropped", operation: "createPayout" });
    const run = await pay({
      account: "us",
      beneficiary_id,
      payout: { ...payout, payout_reference: "lost" },
    });
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect((await paidBy(us)).filter((reference) => reference === "lost")).toHaveLength(1);
    expect((await us.faults()).map(({ fired }) => fired)).toEqual([1]);
    expect(await listed()).toEqual(before);
    expect(await paidBy(eu)).not.toContain("lost");
  });

  it("an account that is slow, and one that cannot sign in, hold up no other", async () => {
    const [atEu, atUs] = (await Promise.all([eu, us].map(beneficiaryAt))) as [string, string];
    const payTo = (account: string, beneficiary_id: string, number: number) =>
      pay({
        account,
        beneficiary_id,
        payout: { ...payout, amount: `1${number}.00`, payout_reference: `fast ${number}` },
      });
    const refused = await payTo("shut", "b-1", 0);
    const slow = await Promise.all(Array.from({ length: 20 }, (_, n) => payTo("eu", atEu, n)));
    const fast = await Promise.all(Array.from({ length: 5 }, (_, n) => payTo("us", atUs, n)));
    await Promise.all(fast.map((run) => run.result()));
    const paid = (await paidBy(eu)).filter((reference) => reference.startsWith("fast"));
    expect(paid.length).toBeLessThan(20);
    await Promise.all(slow.map((run) => run.result()));
    expect((await refused.describe()).status.name).toBe("RUNNING");
    expect(await paidBy(shut)).toEqual([]);
    await refused.terminate();
  });

  it.each([
    [
      "that no worker has",
      "ue",
      "UnknownAccount",
      "The worker has no account ue: it has eu, us, shut.",
    ],
    ["that is no name", "EU/../us", "InvalidRequest", "must be the name of an account"],
  ])("a run of an account %s fails, and sends nothing", async (_, account, type, text) => {
    const run = await pay({ account, beneficiary_id: "b-1", payout });
    const failure = await run.result().then(
      () => undefined,
      (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
    );
    expect(failure).toMatchObject({ type });
    expect(String(failure)).toContain(text);
  });

  it("a run of one account that claims to be pinned to another one is paid by neither", async () => {
    const beneficiary_id = await beneficiaryAt(us);
    const run = await pay(
      { account: "eu", beneficiary_id, payout: { ...payout, payout_reference: "forged" } },
      { typedSearchAttributes: [{ key: PAYMENT_ACCOUNT, value: hashOf(us) }] },
    );
    await vi.waitFor(async () => {
      const { events } = await run.fetchHistory();
      const failures = events?.map(
        (event) => event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo?.type,
      );
      expect(failures).toContain("OtherAccount");
    }, WITHIN);
    expect([...(await paidBy(us)), ...(await paidBy(eu))]).not.toContain("forged");
    await run.terminate();
  });
});
