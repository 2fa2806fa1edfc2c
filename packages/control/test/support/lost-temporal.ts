// A loss of Temporal's database on real servers, and the procedure of docs/restore.md by the real command line.
import { defaultAssumptions } from "@durable-payments/client/effect";
import { formatAmount } from "@durable-payments/client/decimal";
import { OPEN_RUNS } from "@durable-payments/protocol";
import { runApp } from "@durable-payments/tools/testing";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import * as BigDecimal from "effect/BigDecimal";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { checkBatchFile, payFile, planFile } from "../../src/actions/batch/index.ts";
import { startPayment, startRun } from "../../src/actions/start.ts";
import { listed, PAYING } from "../../src/facts/connection/temporal.ts";
import { planOnboarding } from "../../src/rules/input.ts";
import { beneficiary, payout, paymentsOn, type RealStack } from "./payments.ts";
import { startRealStack } from "./real-stack.ts";
import type { payReserved } from "./workflows.ts";

const ada = { by: "ada", how: "--by" };
const HELD = { ...ada, reason: "held" };
const WITHIN = { timeout: 300_000, interval: 200 };

/** A file of six rows: two are paid, two have started and are held, two have not started. */
const ROWS = ["f1", "f2", "f3", "f4", "f5", "f6"];

/**
 * Starts payouts that stay open, a file that is half started, a workflow of a user's own, and an onboarding.
 *
 * @param folder for files.
 * @param open number of single payouts.
 */
const startPayments = async (stack: RealStack, folder: string, open: number) => {
  const { operations } = stack;
  const { client, ledger } = operations;
  const { planned, known } = await paymentsOn(stack);
  const singles = Array.from({ length: open }, (_, at) => `s${at + 1}`);
  await stack.home.fund("USD", `${open * 1_000}.00`);
  const held = ["payout/s1", "payout/f3", "payout/f4", "payReserved/own"];
  for (const id of held) await ledger.pause("run", id, HELD);

  const start = (key: string) =>
    startRun(operations, `payout/${key}`, planned(key), {
      startedBy: "ada",
      how: "--by",
      notDuplicate: "test",
    });
  for (const key of singles) await start(key);
  const file = join(folder, "november.jsonl");
  const rows = ROWS.map((key, at) => ({
    key,
    beneficiary: { ...beneficiary, account_number: `12345678${at}` },
    payout: payout(key),
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { ...ada, window: 2 };
  const { id: batch } = await payFile(
    operations,
    checked,
    await planFile(operations, checked, options),
    options,
  );
  const request = { ...payout("own"), beneficiary_id: known };
  const startOwn = () =>
    startPayment<typeof payReserved>(stack.operations.client, "payReserved", {
      key: "own",
      startedBy: "ada",
      args: [request],
      ledger,
      notDuplicate: "test",
    });
  await startOwn();
  const onboarding = { cardholder: inputs.cardholder, card: inputs.card };
  await startRun(operations, "card-1", planOnboarding(onboarding, defaultAssumptions), {
    startedBy: "ada",
    how: "--by",
  });

  const made = async () => (await ledger.openPayouts(operations.account)).length;
  await vi.waitFor(async () => {
    expect(await made()).toBe(singles.length - 1 + 2);
    expect(await ledger.batchRows(batch, { states: ["started"], limit: 10 })).toHaveLength(4);
    expect((await stack.home.state()).cardholders).toHaveLength(1);
    for (const id of held)
      expect((await client.workflow.getHandle(id).describe()).status.name).toBe("RUNNING");
  }, WITHIN);
  const inputOf = async (name: string, input: object) => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify(input));
    return path;
  };
  return {
    batch,
    file,
    held,
    references: [...singles, ...ROWS, "own"],
    startOwn,
    inputs: {
      s1: await inputOf("s1", planned("s1").input),
      card: await inputOf("card", onboarding),
    },
  };
};

/** Runs a command of the starter. */
const starter = async (stack: RealStack, ...args: ReadonlyArray<string>) => {
  const { exitCode, stderr, stdout } = await runApp("starter", args, stack.variables());
  return { code: exitCode, stdout, text: stdout + stderr };
};

/** Runs a command that must succeed. @returns its output without its progress. */
const succeed = async (stack: RealStack, ...args: ReadonlyArray<string>) => {
  const { code, stdout, text } = await starter(stack, ...args);
  if (code !== 0) throw new Error(text);
  return stdout;
};

/** Completes everything at the service, until no run is open in Temporal and each reference is completed. */
const completeAll = async (stack: RealStack, references: ReadonlyArray<string>): Promise<void> => {
  const { home, operations } = stack;
  await vi.waitFor(
    async () => {
      const { cardholders, payouts } = await home.state();
      for (const { payout_id, payout_status } of payouts)
        if (payout_status !== "completed") await home.setPayoutStatus(payout_id, "completed");
      for (const { card_holder_id } of cardholders)
        await home.setVerification(card_holder_id, "SUCCESS");
      const paid = new Set(payouts.map(({ payout_reference }) => payout_reference));
      expect(references.filter((reference) => !paid.has(reference))).toEqual([]);
      const open: Array<string> = [];
      for await (const run of listed(operations.client, `${OPEN_RUNS} AND ${PAYING}`))
        open.push(run.workflowId);
      expect(open).toEqual([]);
    },
    { timeout: 180_000, interval: 1_000 },
  );
};

/** Expects each reference once at the service, completed. */
const expectOnce = async (stack: RealStack, references: ReadonlyArray<string>): Promise<void> => {
  const { cards, payouts } = await stack.home.state();
  const paid = payouts.map((one) => `${one.payout_reference} ${one.payout_status}`);
  const wanted = references.map((reference) => `${reference} completed`);
  expect(paid.toSorted()).toEqual(wanted.toSorted());
  expect(cards).toHaveLength(1);
};

/** Adds up amounts of USD. */
const sumOf = (amounts: ReadonlyArray<string>): string =>
  formatAmount(
    BigDecimal.sumAll(amounts.map((amount) => BigDecimal.fromStringUnsafe(amount))),
    "USD",
  );

/** Expects that the ledger has every run as succeeded, and that `report` and `list` have the sums of the service's books. */
const expectBooks = async (stack: RealStack, runs: number): Promise<void> => {
  const { home, operations } = stack;
  await vi.waitFor(
    async () => {
      const statuses = (await operations.ledger.runs({})).map(
        ({ status, workflowId }) => `${workflowId} ${status}`,
      );
      expect(statuses.filter((one) => !one.endsWith(" succeeded"))).toEqual([]);
      expect(statuses).toHaveLength(runs);
    },
    { timeout: 60_000, interval: 200 },
  );
  const { cards, payouts } = await home.state();
  const line = (group: string, amounts: ReadonlyArray<string>) => ({
    group,
    currency: "USD",
    state: "paid",
    payments: amounts.length,
    amount: sumOf(amounts),
  });
  const totals = [
    line(
      "payouts",
      payouts.map(({ amount }) => amount),
    ),
    line(
      "cards",
      cards.map(({ card_limit }) => card_limit),
    ),
  ];
  for (const screen of [["report", "--since", "1d"], ["list"]])
    expect(JSON.parse(await succeed(stack, ...screen, "--json"))).toMatchObject({ totals });
};

/**
 * Loses Temporal's database while payouts are open and a file is half started, and follows the procedure of docs/restore.md.
 *
 * @param open number of single payouts; all but one are made.
 */
export const expectRecovered = async (open: number): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "lost-"));
  const stack = await startRealStack(`sqlite:${join(folder, "ledger.sqlite")}`, {
    settleAfter: Infinity,
    verifyAfter: Infinity,
  });
  onTestFinished(async () => {
    await stack[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }, 60_000);
  const { batch, file, held, inputs, references, startOwn } = await startPayments(
    stack,
    folder,
    open,
  );
  const by = ["--by", "grace", "--reason", "Temporal's database is lost"];

  await succeed(stack, "pause", "--json", "--yes", ...by);
  await stack.stopWorkers();
  await stack.loseTemporal();
  const left = {
    taken: { runs: [], writes: 0 },
    files: [{ id: batch, file: "november.jsonl", rows: 4 }],
    followed: open + 1,
    unfinished: [
      { workflowId: "card-1", type: "onboardCardholder" },
      { workflowId: "payReserved/own", type: "payReserved" },
      { workflowId: "payout/s1", type: "payout" },
    ],
  };
  expect(JSON.parse(await succeed(stack, "recover", "--by", "grace", "--json"))).toMatchObject(
    left,
  );
  const recovered = JSON.parse(await succeed(stack, "recover", "--yes", "--json", ...by));
  expect(recovered).toMatchObject(left);
  await stack.startWorkers();
  expect(await starter(stack, "doctor")).toMatchObject({
    code: 1,
    text: expect.stringMatching(/5 runs of the ledger are\s+unknown to Temporal/),
  });

  const paid = await succeed(stack, "pay", file, "--by", "grace", "--yes", "--json");
  expect(JSON.parse(paid)).toMatchObject({ batch, createdBy: "ada" });
  const again = ["--by", "grace", "--not-a-duplicate", "lost", "--json"];
  const started = await succeed(stack, "pay", inputs.s1, "--key", "s1", ...again);
  expect(JSON.parse(started)).toMatchObject({ workflowId: "payout/s1", isNew: true });
  await succeed(stack, "onboard", inputs.card, "--id", "card-1", ...again);
  await startOwn();
  const { ledger } = stack.operations;
  for (const id of held) await ledger.resume("run", id, { by: "ada", how: "--by", reason: null });
  await succeed(stack, "resume", "--json", ...by);

  await completeAll(stack, references);
  await expectOnce(stack, references);
  await expectBooks(stack, references.length + 1);
  await succeed(stack, "doctor");
  // Each answer is checked by the published schema.
  const last = [
    ["show", "payout/s1"],
    ["show", "card-1"],
    ["show", batch, "--rows"],
  ];
  for (const screen of [[], ["inbox"], ["list"], ["list", "--batches"], ["doctor"], ...last])
    await succeed(stack, ...screen, "--json");
};
