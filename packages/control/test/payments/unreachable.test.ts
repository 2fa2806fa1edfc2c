import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { startPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { skippedBecause } from "@durable-payments/tools/skip";
import { createLocalEnvironment, makeTestFolder } from "@durable-payments/tools/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ConnectionFailed, ControlError, NotAllowed } from "../../src/errors.ts";
import { openPayments, type Payments } from "../../src/payments/index.ts";
import { FrozenProxy } from "../support/frozen-proxy.ts";
import { beneficiary, payout } from "../support/payments.ts";

/*
 * A program calls methods for years, while servers come, go and freeze. Each method rejects with ConnectionFailed within
 * five seconds if what it needs is away or silent, and works again by itself.
 */

/** Twice the promise: this host is shared. Without the rule, a call takes 18 seconds, or hangs. */
const WITHIN_MS = 10_000;
const folder = makeTestFolder();
const file = join(folder.path, "rows.jsonl");
const people = join(folder.path, "people.jsonl");
const input = { beneficiary, payout: payout("p-1") };
const onboarding = { cardholder: inputs.cardholder, card: inputs.card };
const ada = { by: "ada", reason: "test" };

const orders = fileURLToPath(new URL("../support/orders/after", import.meta.url));

/** Only Temporal has the inputs that an amendment changes. */
const askBoth = (payments: Payments) =>
  payments.planRepair({}, { ...ada, amend: { payout: { amount: "1.00" } } });

/** What a method needs. `some`: either is enough to read; `maybe`: the ledger, and Temporal only if there is work to do. */
type Needs = "both" | "ledger" | "maybe" | "some" | "temporal";

type Method =
  | Exclude<
      keyof Payments,
      "accounts" | "account" | "lateAfterMs" | "upkeep" | typeof Symbol.asyncDispose
    >
  | Exclude<keyof Payments["upkeep"], "migrate">;

const first = async <A>(all: AsyncIterable<A>): Promise<unknown> => {
  for await (const one of all) return one;
  return undefined;
};

/** A call of every method. */
const CALLS: Readonly<Record<Method, readonly [Needs, (payments: Payments) => Promise<unknown>]>> =
  {
    pay: ["both", (payments) => payments.pay(input, { key: "p-1", by: "ada" })],
    onboard: ["both", (payments) => payments.onboard(onboarding, { key: "c-1", by: "ada" })],
    start: ["both", (payments) => payments.start("own", { key: "o-1", by: "ada", args: [] })],
    firstAnswer: ["both", (payments) => payments.firstAnswer("known")],
    checkFile: ["maybe", (payments) => payments.checkFile(file, ada)],
    payFile: ["both", (payments) => payments.payFile(file, ada)],
    onboardFile: ["both", (payments) => payments.onboardFile(people, ada)],
    list: ["ledger", (payments) => payments.list()],
    listAll: ["ledger", (payments) => first(payments.listAll())],
    report: ["ledger", (payments) => payments.report()],
    // Temporal has no such run: without the ledger, it is not known.
    show: ["ledger", (payments) => payments.show("known")],
    webUi: ["temporal", (payments) => payments.webUi("known")],
    follow: ["ledger", (payments) => first(payments.follow("known"))],
    log: ["ledger", (payments) => payments.log("known")],
    isBatch: ["ledger", (payments) => payments.isBatch("known")],
    batches: ["ledger", (payments) => payments.batches()],
    batch: ["ledger", (payments) => payments.batch("payouts/none")],
    followBatch: ["ledger", (payments) => first(payments.followBatch("payouts/none"))],
    events: ["ledger", (payments) => first(payments.events())],
    redeliver: ["ledger", (payments) => payments.upkeep.redeliver({})],
    inbox: ["ledger", (payments) => payments.inbox()],
    decisionsOn: ["ledger", (payments) => payments.decisionsOn("known")],
    overview: ["ledger", (payments) => payments.overview()],
    doctor: ["some", (payments) => payments.doctor()],
    testWebhook: ["both", (payments) => payments.upkeep.testWebhook()],
    answer: [
      "ledger",
      (payments) => payments.answer("known", { ...ada, choose: "end", question: "q1" }),
    ],
    answerAll: [
      "ledger",
      (payments) =>
        payments.answerAll([{ workflowId: "known", question: "q1" }], { ...ada, choose: "end" }),
    ],
    approve: ["ledger", (payments) => payments.approve("known", { ...ada, hash: "1" })],
    reject: ["ledger", (payments) => payments.reject("known", ada)],
    retry: ["both", (payments) => payments.retry("known", ada)],
    failed: ["ledger", (payments) => payments.failed()],
    duplicates: ["ledger", (payments) => payments.duplicates()],
    planRepair: ["ledger", (payments) => payments.planRepair({}, ada)],
    repair: ["maybe", (payments) => payments.repair({}, ada)],
    cancel: ["ledger", (payments) => payments.cancel("known", ada)],
    cancelBatch: ["ledger", (payments) => payments.cancelBatch("payouts/none", ada)],
    pause: ["ledger", (payments) => payments.pause(ada)],
    resume: ["ledger", (payments) => payments.resume(ada)],
    limits: ["ledger", (payments) => payments.limits()],
    setLimits: ["ledger", (payments) => payments.setLimits({ ...ada, maxAmounts: null })],
    words: ["ledger", (payments) => payments.words()],
    word: ["ledger", (payments) => payments.word({ ...ada, word: "Paid", means: "completed" })],
    recover: ["both", (payments) => payments.upkeep.recover({ by: "ada", isDryRun: true })],
    replay: ["both", (payments) => payments.upkeep.replay({ isOpen: true })],
    previewRetries: [
      "both",
      (payments) => payments.upkeep.previewRetries([{ workflowId: "known" }], { against: orders }),
    ],
    prune: ["ledger", (payments) => payments.upkeep.prune({ ...ada, before: new Date(0) })],
    backup: [
      "ledger",
      (payments) => payments.upkeep.backup(join(folder.path, `copy-${Date.now()}`)),
    ],
  };

/** Calls every method at once; returns what each has done, and how long it took. */
const callAll = (payments: Payments) =>
  Promise.all(
    Object.entries(CALLS).map(async ([name, [needs, call]]) => {
      const begun = performance.now();
      const error: unknown = await call(payments).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const isLate = performance.now() - begun > WITHIN_MS;
      // A rejection on purpose shows that the ledger was read: there is no such run.
      const isUnexpected = error !== undefined && !(error instanceof ControlError);
      return { name, needs, error, isLate, isUnexpected };
    }),
  );

type Called = Awaited<ReturnType<typeof callAll>>;

const namesOf = (called: Called, is: (one: Called[number]) => boolean) =>
  called.filter(is).map(({ error, name }) => `${name}: ${String(error)}`);

/** Expects that the methods with certain needs have no connection, and no others. */
const expectWithout = (called: Called, ...without: ReadonlyArray<Needs>): void => {
  const isFailed = ({ error }: Called[number]) => error instanceof ConnectionFailed;
  expect(namesOf(called, ({ isLate, isUnexpected }) => isLate || isUnexpected)).toEqual([]);
  const isWithout = ({ needs }: Called[number]) => without.includes(needs);
  expect(namesOf(called, (one) => isWithout(one) && !isFailed(one))).toEqual([]);
  expect(
    namesOf(called, (one) => !isWithout(one) && one.needs !== "maybe" && isFailed(one)),
  ).toEqual([]);
};

const carriedOut = (called: Called, method: Method) => {
  const error = called.find(({ name }) => name === method)?.error;
  return error instanceof ConnectionFailed ? error.carriedOut : undefined;
};

let environment: Awaited<ReturnType<typeof createLocalEnvironment>>;
beforeAll(async () => {
  environment = await createLocalEnvironment();
  writeFileSync(file, JSON.stringify({ key: "r-1", ...input }));
  writeFileSync(people, JSON.stringify({ key: "c-2", ...onboarding }));
}, 60_000);
afterAll(async () => {
  await environment.teardown();
  folder.remove();
});

const temporalProxy = () => FrozenProxy.start(Number(environment.address.split(":")[1]));

const open = async (temporal: FrozenProxy, place: string): Promise<Payments> => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  const run = { workflowId: "known", account: null, runId: null, type: "payout" };
  const payment = { amount: "1.00", currency: "EUR", payee: "b-1", reference: null, alias: null };
  await ledger.recordRun({ ...run, ...payment, batch: null, batchRow: null }, Date.now());
  await ledger.close();
  return openPayments({
    baseUrl: "http://127.0.0.1:9",
    clientId: "c",
    ledger: place,
    temporal: { address: `127.0.0.1:${temporal.port}`, namespace: "default" },
  });
};

describe("with Temporal", () => {
  it("that freezes and comes back, every method ends in time; what needs the ledger alone works", async () => {
    await using temporal = await temporalProxy();
    await using payments = await open(temporal, `sqlite:${join(folder.path, "freezes.sqlite")}`);
    await askBoth(payments);
    temporal.freeze();
    const asked = await callAll(payments);
    expectWithout(asked, "both", "temporal");
    expect(carriedOut(asked, "pay")).toBe("unknown");
    // Now the first connection of a call is silent, too: nothing was requested.
    const notAsked = await callAll(payments);
    expectWithout(notAsked, "both", "temporal");
    expect(carriedOut(notAsked, "pay")).toBe("no");
    const repair = notAsked.find(({ name }) => name === "repair");
    expect(String(repair?.error)).toContain("Nothing was started.");
    temporal.comeBack();
    await vi.waitFor(() => askBoth(payments), { timeout: 20_000, interval: 50 });
    expect(await payments.show("known")).toMatchObject({ workflowId: "known" });
  }, 60_000);

  it("that is away and comes back, every method ends in time", async () => {
    await using temporal = await temporalProxy();
    await using payments = await open(temporal, `sqlite:${join(folder.path, "leaves.sqlite")}`);
    await askBoth(payments);
    temporal.leave();
    expectWithout(await callAll(payments), "both", "temporal");
    temporal.comeBack();
    await vi.waitFor(() => askBoth(payments), { timeout: 20_000, interval: 50 });
  }, 60_000);
});

it("calls at once share one connection, and dispose closes it; a call afterwards is refused", async () => {
  await using temporal = await temporalProxy();
  const payments = await open(temporal, `sqlite:${join(folder.path, "shared.sqlite")}`);
  await Promise.all(Array.from({ length: 20 }, () => askBoth(payments)));
  // One is that of the look at an address that answers late.
  expect(temporal.accepted).toBeLessThanOrEqual(2);
  await payments[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(temporal.open).toBe(0));
  await expect(payments.inbox()).rejects.toThrow(NotAllowed);
  await expect(payments.inbox()).rejects.toThrow("closed");
  // Its connections are still being opened.
  const early = await open(temporal, `sqlite:${join(folder.path, "early.sqlite")}`);
  const opening = early.show("payout/one").catch((error: unknown) => error);
  await early[Symbol.asyncDispose]();
  expect(await opening).toBeInstanceOf(NotAllowed);
});

it("decisions open no connection to Temporal", async () => {
  await using temporal = await temporalProxy();
  await using payments = await open(temporal, `sqlite:${join(folder.path, "decided.sqlite")}`);
  const methods = ["answer", "answerAll", "approve", "reject", "pause", "resume"] as const;
  const calls = await Promise.allSettled(methods.map((method) => CALLS[method][1](payments)));
  const errors = calls.map((call): unknown => call.status === "rejected" && call.reason);
  expect(errors.filter((error) => error instanceof ConnectionFailed)).toEqual([]);
  expect(temporal.accepted).toBe(0);
});

describe("with a ledger in PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  it.each(["freeze", "leave"] as const)(
    "every method ends in time though it does %s, and works once it is back",
    async (how) => {
      await using stack = new AsyncDisposableStack();
      const own = makeTestFolder();
      stack.defer(() => own.remove());
      const postgres = await startPostgres(own.path);
      stack.defer(() => postgres.stop());
      const database = stack.use(await FrozenProxy.start(postgres.port));
      const address = new URL(postgres.address("postgres"));
      address.port = String(database.port);
      const temporal = stack.use(await temporalProxy());
      const payments = stack.use(await open(temporal, address.href));
      await askBoth(payments);
      database[how]();
      // The tools of PostgreSQL copy it: that is said without it, too.
      const called = async () => (await callAll(payments)).filter(({ name }) => name !== "backup");
      expectWithout(await called(), "both", "ledger", "maybe");
      expectWithout(await called(), "both", "ledger", "maybe");
      temporal.freeze();
      await expect(payments.inbox()).rejects.toThrow(ConnectionFailed);
      temporal.comeBack();
      database.comeBack();
      await vi.waitFor(() => askBoth(payments), { timeout: 30_000, interval: 50 });
      // Nothing is wrong with the ledger: its database has tools of its own.
      await expect(payments.upkeep.backup("copy")).rejects.toMatchObject({
        name: "InvalidInput",
        message: expect.stringContaining("pg_dump"),
      });
      expect((await payments.list()).runs).toHaveLength(1);
    },
    90_000,
  );
});
