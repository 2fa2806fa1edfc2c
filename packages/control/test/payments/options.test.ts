import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { InvalidInput } from "../../src/errors.ts";
import { Payments } from "../../src/payments/payments.ts";
import { readInstallation } from "../../src/payments/settings.ts";
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
