import { defaultAssumptions } from "@durable-payments/client/effect";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { whyNoTimeSkipping } from "@durable-payments/tools/testing";
import { skippedBecause } from "@durable-payments/tools/skip";
import { appArguments, checkout } from "@durable-payments/tools/processes";
import { execa } from "execa";
import { readFileSync } from "node:fs";
import { mkdtemp, mkdtempDisposable, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkflowHandle } from "@temporalio/client";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { previewRetries, workflowsIn } from "../src/actions/preview/preview.ts";
import { bundleToReplay } from "../src/actions/replay.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { startPayment, startRun } from "../src/actions/start.ts";
import { planOnboarding } from "../src/rules/input.ts";
import { groupsOf, type PreviewedRun, writeOf } from "../src/rules/preview.ts";
import type { payByChild, waitThenPay } from "./support/workflows.ts";
import type { Order, payOrder } from "./support/orders/before/workflows.ts";
import { type Payments, paymentsOn, payout, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";

// What a preview says about retries with mended code is what they then do; and it sends nothing, and changes nothing.

const BEFORE = "orders/before/workflows.ts";
const AFTER = "orders/after/workflows.ts";
const MENDED = fileURLToPath(new URL(`support/${AFTER}`, import.meta.url));

let stack: RealStack;
let folder: string;
let payments: Payments;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "preview-"));
  stack = await startRealStack(`sqlite:${join(folder, "ledger")}`, {}, BEFORE);
  payments = await paymentsOn(stack);
}, 600_000);
afterEach(async () => {
  await stack.stopWorkers();
  await stack.startWorkers(BEFORE);
}, 600_000);
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
}, 600_000);

const bob = { by: "bob", how: "--by", reason: "mended" };

const ordered = async (id: string, amount: string, kind: Order["kind"] = "goods") => {
  const { client, ledger, taskQueue } = stack.operations;
  const of = (what: string) => ({ ...payout(`${what} ${id}`), beneficiary_id: payments.known });
  const order = { price: of("price"), fee: { ...of("fee"), amount }, kind };
  const started = await startPayment<typeof payOrder>(client, "payOrder", {
    key: id,
    args: [order],
    taskQueue,
    ledger,
    startedBy: "ada",
  });
  await expect(started.result()).rejects.toThrow();
};

const onboarded = async (id: string, last_name: string) => {
  const email = `${id}@example.com`;
  const input = { cardholder: { ...inputs.cardholder, last_name, email }, card: inputs.card };
  await startRun(stack.operations, id, planOnboarding(input, defaultAssumptions), {
    startedBy: "ada",
  });
  await expect(payments.result(id)).rejects.toThrow();
};

const preview = (...ids: ReadonlyArray<string>) =>
  previewRetries(
    stack.operations,
    ids.map((workflowId) => ({ workflowId })),
    { against: MENDED },
  );

const SHOWN = /^```sh\n(?<line>.*)\n```\n(?:\n```text\n(?<output>[^]*?)^```$)?/gm;

/** The commands of the page, with what it shows as their output. */
const PAGE = [
  ...readFileSync(join(checkout, "docs/preview-a-retry.md"), "utf8").matchAll(SHOWN),
].map(({ groups = {} }) => ({ line: groups["line"] ?? "", output: groups["output"] }));

/** Runs a command of the page as its reader would. */
const runLine = async (line: string) => {
  const args = line.split(" ").slice(1);
  const { exitCode, stdout } = await execa(
    process.execPath,
    appArguments(
      "starter",
      args.map((arg) => (arg === "../orders" ? MENDED : arg)),
    ),
    {
      env: { ...stack.variables(), NO_COLOR: "1" },
      reject: false,
      cwd: fileURLToPath(new URL("support/orders/before", import.meta.url)),
    },
  );
  const output = stdout.replaceAll("../after/workflows.ts", "../orders/src/workflows.ts");
  return { code: exitCode, output: `${output}\n` };
};

/** One after the other: each has a server, and a machine under load gives it no time to start beside others. */
const shown = async () => {
  const outputs: Array<Awaited<ReturnType<typeof runLine>>> = [];
  for (const { line } of PAGE) outputs.push(await runLine(line));
  return outputs;
};

test("says what is missing in the folder: the dependencies, or the module of the runs", async () => {
  await using project = await mkdtempDisposable(join(tmpdir(), "project-"));
  const { path } = project;
  const npmInstall = /: run npm install in/;
  expect(() => workflowsIn(path, ["payout"])).toThrow(npmInstall);
  expect(() => workflowsIn(join(path, "nowhere"), ["payout"])).toThrow("There is no folder");
  expect(() => workflowsIn(path, ["payout", "payOrder"])).toThrow("exports payOrder");
  const workflows = join(path, "workflows.ts");
  await writeFile(workflows, 'export * from "durable-payments/workflows";\n');
  expect(workflowsIn(path, ["payOrder"])).toBe(workflows);
  await expect(bundleToReplay(workflows)).rejects.toThrow(npmInstall);
}, 60_000);

const soon = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 600_000, interval: 50 });

const sentTo = ({ requests }: Awaited<ReturnType<RealStack["home"]["state"]>>) => requests;

describe("a preview", skippedBecause(whyNoTimeSkipping()), () => {
  test("what a preview says of each failed run is what its retry with the mended code does", async () => {
    const { client, ledger } = stack.operations;
    const orders = ["one", "two", "three"];
    await Promise.all([
      ...orders.map((id) => ordered(id, "5.00")),
      ordered("dear", "60.00"),
      ordered("too-dear", "500.00"),
      ordered("packed", "7.00"),
      ordered("gift", "5.00", "gift"),
      onboarded("incomplete", "Incomplete"),
    ]);
    await stack.home.addFault({ kind: "refusal-in-200", operation: "createCard" });
    await onboarded("refused-card", "Hopper");
    const ids = [
      ...[...orders, "dear", "too-dear", "packed", "gift"].map((id) => `payOrder/${id}`),
      "incomplete",
      "refused-card",
    ];
    // Commands choose among the ends that the tracker has recorded.
    await soon(async () => {
      const found = await ledger.runs({ workflowIds: ids, limit: ids.length });
      expect(found.filter(({ endState }) => endState === "failed")).toHaveLength(ids.length);
    });
    const rowsOf = async () => (await Promise.all(ids.map((id) => ledger.rowsOf(id)))).flat();
    const before = { rows: await rowsOf(), books: await stack.home.state() };
    const runs = await preview(...ids);
    const [all, one, chosen] = await shown();
    expect({ rows: await rowsOf(), books: await stack.home.state() }).toEqual(before);
    expect(all).toEqual({ code: 1, output: PAGE[0]?.output });
    expect(one).toMatchObject({ code: 0, output: expect.stringContaining("1 run would complete") });
    expect(chosen).toMatchObject({
      code: 1,
      output: expect.stringMatching(/own[^]* at +reserve\n/),
    });

    const fee = { step: "fee", operation: "createPayout", currency: "USD" };
    const kept = ["price"];
    expect(runs).toMatchObject([
      ...orders.map(() => ({ outcome: "completes", kept, writes: [{ ...fee, amount: "5.00" }] })),
      { outcome: "approval", step: "fee", writes: [] },
      { outcome: "fails", why: "FeeTooHigh: The fee 500.00 is too high.", writes: [] },
      { outcome: "ownActivity", step: "pack", writes: [] },
      { outcome: "differs", why: expect.stringContaining("Nondeterminism"), writes: [] },
      { outcome: "fails", why: expect.stringContaining("incomplete"), kept: ["createCardholder"] },
      {
        outcome: "completes",
        writes: [{ operation: "createCard", amount: inputs.card.card_limit, currency: "USD" }],
      },
    ]);
    expect(runs[4]?.lines).toMatchObject([{ file: expect.stringContaining(AFTER), line: 18 }]);
    expect(groupsOf(runs)[0]).toMatchObject({
      outcome: "completes",
      workflowIds: orders.toSorted().map((id) => `payOrder/${id}`),
      writes: { createPayout: 3 },
      money: [{ currency: "USD", amount: "15.00" }],
    });

    await stack.stopWorkers();
    await stack.startWorkers(AFTER);
    const known = before.rows.filter(({ state }) => state === "done");
    const isNew = ({ step, workflowId: id }: (typeof known)[number]) =>
      !known.some((one) => one.step === step && one.workflowId === id);
    const becomes: Record<string, (run: PreviewedRun, handle: WorkflowHandle) => Promise<unknown>> =
      {
        completes: (_, handle) => handle.result(),
        ownActivity: (_, handle) => handle.result(),
        fails: ({ why }, handle) =>
          expect(handle.result()).rejects.toMatchObject({
            cause: { message: expect.stringContaining(why?.replace(/^\w+: /, "") ?? "") },
          }),
        approval: ({ step, workflowId }) =>
          soon(async () => {
            const row = (await ledger.rowsOf(workflowId)).find((one) => one.step === step);
            expect(row?.question?.kind).toBe("approval");
          }),
        differs: (_, handle) =>
          soon(async () => {
            const last = (await handle.fetchHistory()).events?.at(-1);
            const { message } = last?.workflowTaskFailedEventAttributes?.failure ?? {};
            expect(message).toMatch(/Nondeterminism/i);
          }),
      };
    await Promise.all(
      runs.map(async (run) => {
        const { outcome, workflowId, writes } = run;
        const { runId } = await retryPayment(stack.operations, workflowId, bob);
        await becomes[outcome]?.(run, client.workflow.getHandle(workflowId, runId));
        const rows = await ledger.rowsOf(workflowId);
        const sent = rows.filter((row) => row.state === "done" && isNew(row)).map(writeOf);
        // The preview ends where an activity of the user's own would begin.
        expect(sent).toEqual(outcome === "ownActivity" ? [{ ...fee, amount: "7.00" }] : writes);
      }),
    );
    expect(sentTo(await stack.home.state())["createPayout"]).toBe(
      (sentTo(before.books)["createPayout"] ?? 0) + 4,
    );
  }, 600_000);

  test("continues children, named accounts, amended inputs and open runs, and stops where only the service knows", async () => {
    const { client, ledger, taskQueue } = stack.operations;
    const { eu, home } = stack;
    onTestFinished(() => home.clearFaults());
    const failing = { kind: "refusal-in-200", operation: "createPayout" } as const;
    const fails = async (id: string, start: () => Promise<unknown>, at = home) => {
      await at.addFault(failing);
      await start();
      await expect(payments.result(id)).rejects.toThrow();
    };
    const pays = (id: string, account?: "eu") => () =>
      startRun(stack.operations, id, payments.planned(id, account), { startedBy: "ada" });
    await fails("amended", pays("amended"));
    await fails("in-eu", pays("in-eu", "eu"), eu);
    await fails("parent", () =>
      client.workflow.start<typeof payByChild>("payByChild", {
        workflowId: "parent",
        taskQueue,
        args: ["parent/child", payments.planned("parent/child").input],
      }),
    );
    const request = { ...payout("asleep"), beneficiary_id: payments.known };
    await client.workflow.start<typeof waitThenPay>("waitThenPay", {
      workflowId: "asleep",
      taskQueue,
      args: [request],
    });
    await ordered("stuck", "8.00");
    await home.addFault({ kind: "dropped", operation: "createPayout" });
    await home.addFault({ kind: "html-502", operation: "listPayouts", times: 1_000 });
    await pays("lost")();
    await soon(async () => expect((await ledger.rowsOf("lost"))[0]?.state).toBe("unknown"));
    await client.workflow.getHandle("lost").terminate("its worker was lost");
    await soon(async () => expect(stack.reserved()).toBeGreaterThan(0));

    const amend = { payout: { amount: "7.50" } };
    const runs = await previewRetries(
      stack.operations,
      [
        { workflowId: "amended", amend },
        ...["in-eu", "parent", "asleep", "lost", "payOrder/stuck", "nobody"].map((workflowId) => ({
          workflowId,
        })),
      ],
      { against: MENDED },
    );
    const sent = (amount: string) => [{ operation: "createPayout", amount, currency: "USD" }];
    // A clone has no workflows of its own: those of its durable-payments are enough.
    expect(
      await previewRetries(stack.operations, [{ workflowId: "in-eu" }], {
        against: checkout,
      }),
    ).toMatchObject([{ outcome: "completes", writes: sent(inputs.payout.amount) }]);
    expect(runs).toMatchObject([
      { outcome: "completes", why: null, writes: sent("7.50") },
      { outcome: "completes", writes: sent(inputs.payout.amount) },
      { outcome: "completes", writes: sent(inputs.payout.amount) },
      { outcome: "completes", kept: [], writes: sent(inputs.payout.amount) },
      { outcome: "unknown", step: "createPayout", writes: [] },
      { outcome: "fails", why: expect.stringContaining("not valid JSON"), kept: ["price"] },
      { outcome: "refused", why: expect.stringContaining("There is no run of nobody") },
    ]);
  }, 600_000);

  test("a chosen step and an amendment for each of some runs are previewed as they are then retried", async () => {
    const { client, ledger } = stack.operations;
    await Promise.all([ordered("from-own", "5.00"), ordered("from-write", "6.00")]);
    for (const id of ["limit-1", "limit-2"]) {
      await stack.home.addFault({ kind: "refusal-in-200", operation: "createCardholder" });
      await onboarded(id, id);
    }
    const amend = { card: { card_limit: "7.00" } };
    const chosen = [
      { workflowId: "payOrder/from-own", from: "reserve" },
      { workflowId: "payOrder/from-write", from: "price" },
      { workflowId: "limit-1", amend },
      { workflowId: "limit-2" },
    ];
    const options = { against: MENDED };
    const runs = await previewRetries(stack.operations, chosen, options);
    const fee = (amount: string) => ({
      step: "fee",
      operation: "createPayout",
      currency: "USD",
      amount,
    });
    const cardOf = (amount: string) => [
      { operation: "createCardholder" },
      { operation: "createCard", currency: "USD", amount },
    ];
    expect(runs).toMatchObject([
      { outcome: "ownActivity", step: "reserve", writes: [] },
      { outcome: "completes", kept: ["price"], writes: [fee("6.00")] },
      { outcome: "completes", kept: [], writes: cardOf("7.00") },
      { outcome: "completes", kept: [], writes: cardOf(inputs.card.card_limit) },
    ]);
    const never = [{ workflowId: "payOrder/from-write", from: "pack" }];
    expect(await previewRetries(stack.operations, never, options)).toMatchObject([
      { outcome: "refused", why: expect.stringContaining("never reached pack") },
    ]);
    // Commands choose among the ends that the tracker has recorded.
    await soon(async () =>
      expect(await ledger.failures({ step: "createCardholder" })).toMatchObject([{ runs: 2 }]),
    );
    const file = join(folder, "limits.csv");
    await writeFile(file, "id,card.card_limit\nlimit-1,7.00\n");
    const flags = `--all-failed --step createCardholder --amend ${file} --against ../orders`;
    const sum = Number(inputs.card.card_limit) + 7;
    expect(await runLine(`durable-payments retry ${flags}`)).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        new RegExp(`2 runs would complete[^]* 2 × createCard(?:, .*)?: ${sum.toFixed(2)} USD\n`),
      ),
    });

    await stack.stopWorkers();
    await stack.startWorkers(AFTER);
    const before = stack.reserved();
    const sent = await Promise.all(
      chosen.map(async ({ workflowId, ...how }) => {
        const known = await ledger.rowsOf(workflowId);
        const { runId } = await retryPayment(stack.operations, workflowId, { ...bob, ...how });
        await client.workflow.getHandle(workflowId, runId).result();
        const rows = await ledger.rowsOf(workflowId);
        const isNew = ({ step }: (typeof rows)[number]) =>
          !known.some((one) => one.step === step && one.state === "done");
        return rows.filter(isNew).map(writeOf);
      }),
    );
    expect(sent).toEqual([[fee("5.00")], ...runs.slice(1).map(({ writes }) => writes)]);
    expect(stack.reserved()).toBe(before + 1);
  }, 600_000);
});
