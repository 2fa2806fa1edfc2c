import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { startPayment } from "../../src/actions/start.ts";
import { InvalidInput } from "../../src/errors.ts";
import { openPayments } from "../../src/payments/open-payments.ts";
import { Payments } from "../../src/payments/payments.ts";
import { readInstallation } from "../../src/payments/settings.ts";
import { payout } from "../support/payments.ts";
import { put, row } from "../support/rows.ts";

const access = { baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" };
const ledger = await openLedger("memory");
await put(ledger, row({ workflowId: "payout/one" }));
const payments = new Payments(readInstallation({ ...access, ledger: "memory" }, {}, ledger));
const ada = { by: "ada", reason: "an outage" };
const ID = "payout/one";

// Each of these would do more, or something else, than its caller wants.
test.each<[string, (given: never) => Promise<unknown>, object, string]>([
  ["pay", (given) => payments.pay({} as never, given), { dryRun: true }, "dryRun is unknown"],
  ["pay", (given) => payments.pay({} as never, given), { isDryRun: "yes" }, "must be true or"],
  ["onboard", (given) => payments.onboard({} as never, given), { id: null }, "id must be a text"],
  ["checkFile", (given) => payments.checkFile("a.csv", given), { type: "card" }, "type must be"],
  ["payFile", (given) => payments.payFile("a.csv", given), { approveabove: "1" }, "approveabove"],
  ["onboardFile", (given) => payments.onboardFile("a.csv", given), { windows: 1 }, "windows"],
  ["answer", (given) => payments.answer(ID, given), { found: 5 }, "found must be a text"],
  ["answerAll", (given) => payments.answerAll([], given), { question: "q" }, "question is"],
  ["approve", (given) => payments.approve(ID, given), { question: 5 }, "question must be a text"],
  ["reject", (given) => payments.reject(ID, given), { how: 5 }, "how must be a text"],
  ["retry", (given) => payments.retry(ID, given), { ammend: {} }, "ammend is unknown"],
  ["planRepair", (given) => payments.planRepair({}, given), { rates: 5 }, "rates is unknown"],
  ["repair", (given) => payments.repair({}, given), { contents: "x" }, "contents is unknown"],
  ["cancel", (given) => payments.cancel(ID, given), { isForced: "no" }, "isForced must be true"],
  ["cancelBatch", (given) => payments.cancelBatch(ID, given), { started: true }, "started is"],
  ["pause", (given) => payments.pause(given), { workflowId: ID }, "workflowId is unknown"],
  ["resume", (given) => payments.resume(given), { run: ID }, "run is unknown: use one of by, how"],
  ["setLimits", (given) => payments.setLimits(given), { maxAmount: {} }, "maxAmount is unknown"],
  ["word", (given) => payments.word(given), { word: "Paid", means: "paid" }, "means must be one"],
  ["duplicates", (given) => payments.duplicates(given), { bath: "x" }, "bath is unknown"],
  ["log", (given) => payments.log(ID, given), { verified: true }, "verified is unknown"],
  ["recover", (given) => payments.upkeep.recover(given), { since: new Date("") }, "valid Date"],
  ["prune", (given) => payments.upkeep.prune(given), { berfore: new Date() }, "berfore is unknown"],
])(
  "a wrong option of %s is refused by name, and nothing is done",
  async (_, act, given, message) => {
    const before = await ledger.state();
    const error: unknown = await act({ ...ada, ...given } as never).catch(
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(InvalidInput);
    expect(error).toHaveProperty("message", expect.stringContaining(message));
    expect(error).toHaveProperty("message", expect.stringContaining("Nothing was done."));
    expect(await ledger.pauses()).toEqual([]);
    expect((await ledger.state()).sequence).toBe(before.sequence);
  },
);

test("an action does what it was given at the call, although the program uses the object again", async () => {
  const maxAmounts = { EUR: "10.00" };
  const set = payments.setLimits({ ...ada, maxAmounts });
  maxAmounts.EUR = "99.00";
  expect(await set).toMatchObject({ maxAmounts: { EUR: "10.00" } });
});

const items = async (all: AsyncIterable<unknown>) => {
  for await (const one of all) return one;
  return undefined;
};

// Code without types, or what came over HTTP. Without the check, each gives an error of something else, or none.
const NOT_IDS: ReadonlyArray<unknown> = [undefined, null, 5, "", {}];
const BY_ID: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  show: (id) => payments.show(id),
  webUi: (id) => payments.webUi(id),
  follow: (id) => items(payments.follow(id)),
  log: (id) => payments.log(id),
  isBatch: (id) => payments.isBatch(id),
  batch: (id) => payments.batch(id),
  followBatch: (id) => items(payments.followBatch(id)),
  decisionsOn: (id) => payments.decisionsOn(id),
  firstAnswer: (id) => payments.firstAnswer(id),
  answer: (id) => payments.answer(id, { ...ada, question: "q", choose: "end" }),
  approve: (id) => payments.approve(id, { ...ada, hash: "h" }),
  reject: (id) => payments.reject(id, ada),
  retry: (id) => payments.retry(id, ada),
  cancel: (id) => payments.cancel(id, ada),
  cancelBatch: (id) => payments.cancelBatch(id, ada),
  checkFile: (file) => payments.checkFile(file, ada),
  payFile: (file) => payments.payFile(file, ada),
  onboardFile: (file) => payments.onboardFile(file, ada),
  backup: (file) => payments.upkeep.backup(file),
};

test.each(Object.entries(BY_ID))(
  "%s refuses what is no text, before it does anything",
  async (_, act) => {
    for (const id of NOT_IDS) await expect(act(id as string)).rejects.toThrow(InvalidInput);
  },
);

test.each<[string, () => Promise<unknown>]>([
  ["pay without options", () => payments.pay({} as never, undefined as never)],
  [
    "start without a workflow",
    () => payments.start(undefined as never, { ...ada, key: "k", args: [] } as never),
  ],
  ["start without options", () => payments.start("own", undefined as never)],
  ["start without arguments", () => payments.start("own", { by: "ada", key: "k" } as never)],
  [
    "start with an argument",
    () => payments.start("own", { by: "ada", key: "k", args: {} } as never),
  ],
  [
    "start that waits",
    () => payments.start("own", { by: "ada", key: "k", args: [], waitFor: "created" } as never),
  ],
  ["events with a number as signal", () => items(payments.events({ signal: 5 as never }))],
  ["follow with a number as signal", () => items(payments.follow(ID, { signal: 5 as never }))],
  ["follow with null", () => items(payments.follow(ID, null as never))],
  ["batch with null", () => payments.batch(ID, null as never)],
  ["batches with null", () => payments.batches(null as never)],
  [
    "previewRetries of a text",
    () => payments.upkeep.previewRetries("x" as never, { against: "." }),
  ],
  ["previewRetries without options", () => payments.upkeep.previewRetries([], undefined as never)],
  ["replay without options", () => payments.upkeep.replay(undefined as never)],
  ["a wait of NaN", () => payments.firstAnswer(ID, Number.NaN)],
  ["a wait that gRPC cannot count", () => payments.firstAnswer(ID, 1e15)],
  ["a wait until soon", () => payments.firstAnswer(ID, "soon" as never)],
])("%s is refused as invalid input", async (_, act) => {
  await expect(act()).rejects.toThrow(InvalidInput);
});

test.each<[string, (...given: Array<never>) => Promise<unknown>, ReadonlyArray<unknown>]>([
  ["a client", startPayment, []],
  ["a workflow", startPayment, [{}, undefined, { ...ada, key: "k", args: [] }]],
  ["options", startPayment, [{}, "own"]],
  ["a list of arguments", startPayment, [{}, "own", { startedBy: "ada", key: "k", args: "x" }]],
  [
    "a known wait",
    startPayment,
    [{}, "own", { startedBy: "ada", key: "k", args: [], waitFor: "creatd" }],
  ],
  [
    "a time to wait",
    startPayment,
    [{}, "own", { startedBy: "ada", key: "k", args: [], waitFor: "created", within: NaN }],
  ],
])("startPayment without %s is refused as invalid input", async (_, act, given) => {
  await expect(act(...(given as Array<never>))).rejects.toThrow(InvalidInput);
});

test("an input and its options cannot have two keys", async () => {
  const input = { beneficiary_id: "b-1", payout: payout("one"), key: "zz" };
  const paying = payments.pay(input, { by: "ada", key: "other" });
  await expect(paying).rejects.toThrow(InvalidInput);
  await expect(paying).rejects.toThrow("zz");
});

test.each([5, null, "x", true])("openPayments does not take %j as settings", async (given) => {
  await expect(openPayments(given as never)).rejects.toThrow(InvalidInput);
});

test("an option that is undefined is left out", async () => {
  const given = { ...ada, id: ID, how: undefined, batch: undefined };
  expect(await payments.pause(given)).toMatchObject({ scope: "run", of: ID });
});

test.each([
  [{ adress: "other:7233" }, "adress is unknown: use one of address, namespace"],
  [{ address: 7233 }, "address must be a text"],
  ["other:7233", "must be an object"],
])("with %j as temporal, nothing is opened: it would be another installation", (temporal, why) => {
  const read = () => readInstallation({ ...access, temporal: temporal as object }, {});
  expect(read).toThrow(InvalidInput);
  expect(read).toThrow(why);
});
