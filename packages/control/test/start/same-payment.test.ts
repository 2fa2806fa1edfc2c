import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { contentHash } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { checkBatchFile, payFile, planFile } from "../../src/actions/batch/index.ts";
import { similarText } from "../../src/actions/duplicates.ts";
import { checkStart, startPayment, startRun } from "../../src/actions/start.ts";
import { NotAllowed } from "../../src/errors.ts";
import { idOfKey, planOnboarding, planPayout } from "../../src/rules/input.ts";
import { operationsOn } from "../support/stub-client.ts";

/*
 * The same business fact, started twice: by hand, from a file, by a program; in another spelling, with other words about the
 * same payee, under another id. The ledger is real; Temporal only notes what it is asked to start.
 */

const REFERENCE = "Rechnung Müller 17";

/** Each looks the same to a person, or nearly. */
const SPELLED: ReadonlyArray<readonly [how: string, reference: string]> = [
  ["exactly the same", REFERENCE],
  ["decomposed letters", REFERENCE.normalize("NFD")],
  ["a blank at the end", `${REFERENCE} `],
  ["U+00A0 for a blank", REFERENCE.replace(" ", "\u00a0")],
  ["two blanks", REFERENCE.replace(" ", "  ")],
  ["U+200B at the end", `${REFERENCE}\u200b`],
  ["capitals", REFERENCE.toUpperCase()],
  ["full width", REFERENCE.replace("17", "１７")],
];

const payout = {
  amount: "250.00",
  currency: "EUR",
  payout_reason: "goods",
  payout_reference: REFERENCE,
  payment_date: "2026-12-01",
  is_payer: "Y",
};
const pays = (payout_reference: string) => ({
  beneficiary_id: "b-1",
  payout: { ...payout, payout_reference },
});
const plan = (input: unknown) => planPayout(input, defaultAssumptions);
const ada = { startedBy: "ada" };

const rig = async () => {
  const ledger = await openLedger("memory");
  return { ledger, ...operationsOn(ledger) };
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "same-"));
});
afterAll(() => rm(folder, { recursive: true }));

const HEADER =
  "key,beneficiary_id,currency,amount,payout_reason,payout_reference,payment_date,is_payer";
const fileOf = async (key: string, reference: string) => {
  const file = join(folder, "rows.csv");
  await writeFile(file, `${HEADER}\n${key},b-1,EUR,250.00,goods,"${reference}",2026-12-01,Y\n`);
  return checkBatchFile("payout", file, defaultAssumptions);
};

describe.each(SPELLED)(
  "a payment that was made, with its reference in another spelling: %s",
  (_, reference) => {
    test("is likely a duplicate by hand, in a dry run, from a file, and by a program", async () => {
      const { asked, ledger, operations } = await rig();
      await startRun(operations, "first", plan(pays(REFERENCE)), ada);
      const again = plan(pays(reference));
      const refusal = /^again is likely a duplicate: the same payee, amount and currency as first/;
      await expect(checkStart(operations, "again", again, ada)).rejects.toThrow(refusal);
      await expect(startRun(operations, "again", again, ada)).rejects.toThrow(refusal);
      const started = startPayment<(invoice: object) => Promise<void>>(
        operations.client,
        "payInvoice",
        {
          key: "again",
          startedBy: "ada",
          args: [pays(reference)],
          ledger,
        },
      );
      await expect(started).rejects.toThrow("payInvoice/again is likely a duplicate");
      const file = await planFile(operations, await fileOf("again", reference), {
        by: "ada",
        how: "--by",
      });
      expect(file.warnings).toEqual([expect.stringContaining("Row 2 may be a duplicate of first")]);
      expect(asked.started).toHaveLength(1);
    });
  },
);

describe("of equal payments that are started at the same time, one is started", () => {
  const KEYS = ["1", "2", "3", "4"];
  const outcomes = async (starts: ReadonlyArray<Promise<unknown>>) =>
    (await Promise.allSettled(starts)).map((one) =>
      one.status === "fulfilled" ? "started" : String(one.reason),
    );
  const begin = (
    { ledger, operations }: Awaited<ReturnType<typeof rig>>,
    key: string,
    reference = REFERENCE,
    notDuplicate?: string,
  ) =>
    startPayment<(invoice: object) => Promise<void>>(operations.client, "payInvoice", {
      key,
      startedBy: "ada",
      args: [pays(reference)],
      ledger,
      notDuplicate,
    });

  test("by hand and by a program", async () => {
    const { asked, ledger, operations } = await rig();
    const said = await outcomes([
      ...KEYS.map((key) => startRun(operations, key, plan(pays(REFERENCE)), ada)),
      ...SPELLED.map(([how, spelled]) => begin({ asked, ledger, operations }, how, spelled)),
    ]);
    expect(asked.started).toHaveLength(1);
    expect(said.filter((one) => one === "started")).toHaveLength(1);
    expect(said).toContainEqual(
      expect.stringMatching(
        /is likely a duplicate: the same payee, amount and currency as another start/,
      ),
    );
  });

  test("a person, with whatever card", async () => {
    const { asked, operations } = await rig();
    const person = (card_limit: string) =>
      planOnboarding(
        { cardholder: inputs.cardholder, card: { ...inputs.card, card_limit } },
        defaultAssumptions,
      );
    await outcomes(KEYS.map((key) => startRun(operations, key, person(`${key}00.00`), ada)));
    expect(asked.started).toHaveLength(1);
  });

  test("but other references are other payments, and the same id is the same run", async () => {
    const world = await rig();
    await Promise.all(KEYS.map((key) => begin(world, key, `Invoice ${key}`)));
    expect(world.asked.started).toHaveLength(4);
    const same = () => startRun(world.operations, "same", plan(pays("Invoice 5")), ada);
    expect(await Promise.all([same(), same()])).toHaveLength(2);
  });

  const startedBy = ({ ledger, operations }: Awaited<ReturnType<typeof rig>>, start: object) => {
    // Only `start` of the client is called.
    const client = { workflow: { start } } as unknown as typeof operations.client;
    return { asked: { started: [], signals: [] }, ledger, operations: { ...operations, client } };
  };

  test("and after a start that was refused, another one is started", async () => {
    const world = await rig();
    const taken = () => Promise.reject(new NotAllowed({ message: "another input" }));
    await expect(begin(startedBy(world, taken), "first")).rejects.toThrow("another input");
    await begin(world, "second");
    expect(world.asked.started).toHaveLength(1);
  });

  test("and after one without an answer, which Temporal may have taken, only the same id", async () => {
    const world = await rig();
    const silent = () => Promise.reject(new Error("no answer"));
    await expect(begin(startedBy(world, silent), "first")).rejects.toThrow("no answer");
    await expect(begin(world, "second")).rejects.toThrow("another start that is not recorded yet");
    await begin(world, "first");
    expect(world.asked.started).toHaveLength(1);
  });

  test("also if one takes longer than a minute, or has a reason", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const world = await rig();
    const answer = Promise.withResolvers<object>();
    const started = begin(
      startedBy(world, () => answer.promise),
      "slow",
      REFERENCE,
      "checked",
    );
    // The ledger answers in a turn of the event loop.
    for (let seconds = 0; seconds < 90; seconds += 10) {
      vi.advanceTimersByTime(10_000);
      await world.ledger.pauses();
      await new Promise(setImmediate);
    }
    await expect(begin(world, "second")).rejects.toThrow("another start that is not recorded yet");
    answer.resolve({ firstExecutionRunId: "run-1" });
    await started;
    await expect(begin(world, "second")).rejects.toThrow("as payInvoice/slow (");
  });
});

test.each([
  [null, "b-1", "not sent yet"],
  ["made", "b-1", "under way"],
  ["completed", "b-1", "paid"],
  ["completed", "person/a", "cardholder created"],
  ["failed", "b-1", "failed"],
  ["returned", "b-1", "came back"],
  ["stopped", "b-1", "not paid"],
] as const)("a message about a likely duplicate words %s of %s: %s", (standing, payee, said) => {
  const earlier = { workflowId: "first", reference: null, payee, standing, at: 0 };
  expect(similarText(earlier)).toBe(`first of 1970-01-01 00:00 UTC, ${said}`);
});

test("the invoice of a new project is likely a duplicate under another key", async () => {
  const { asked, ledger, operations } = await rig();
  // By its address: the template is no part of a package.
  const file = new URL("../../../create/template/src/example-invoice.ts", import.meta.url).href;
  const { exampleInvoice } = (await import(file)) as { readonly exampleInvoice: object };
  const start = (key: string) =>
    startPayment<(invoice: object) => Promise<void>>(operations.client, "payInvoice", {
      key,
      startedBy: "ada",
      args: [exampleInvoice],
      ledger,
    });
  await start("invoice-1");
  await expect(start("invoice-2")).rejects.toThrow("payInvoice/invoice-2 is likely a duplicate");
  expect(asked.started).toHaveLength(1);
});

test("a clean text is what is sent, hashed, and makes the id: by every way in", async () => {
  const clean = plan(pays(REFERENCE));
  for (const [how, reference] of SPELLED.slice(1, 4).concat(SPELLED.slice(5, 6))) {
    const planned = plan(pays(reference));
    expect([how, planned]).toEqual([how, clean]);
    const { rows } = await fileOf("k", reference);
    expect([how, rows.map(({ input }) => input)]).toEqual([how, [clean.input]]);
    expect([how, contentHash(pays(reference))]).toEqual([how, contentHash(clean.input)]);
  }
});

test("a key is one key in NFC and NFD, in a file, by hand and in a program", async () => {
  const key = "Rechnung-Müller-17";
  const { operations } = await rig();
  const first = await fileOf(key.normalize("NFC"), REFERENCE);
  const second = await fileOf(`${key.normalize("NFD")}\u200b`, REFERENCE);
  expect(second.batch).toBe(first.batch);
  expect(second.rows[0]?.workflowId).toBe(idOfKey("payout", key.normalize("NFD")));
  const options = { by: "ada", how: "--by" };
  await payFile(operations, first, await planFile(operations, first, options), options);
  expect(await planFile(operations, second, options)).toMatchObject({ state: "approved" });
  for (const bad of ["a\u200db", "a\nb", "1.23457E+12", "", 'a"b'])
    expect(() => idOfKey("payout", bad)).toThrow("Nothing was started");
});

describe("a payee is the account, whatever else is written about it", () => {
  const beneficiary = { ...inputs.beneficiary, clearing_system: "SEPA" };
  const to = (payee: object) => ({ beneficiary: payee, payout });
  const { clearing_system: _, ...plain } = beneficiary;
  const { iban } = beneficiary;

  test.each([
    ["without its clearing system", plain],
    ["with another holder", { ...beneficiary, account_holder: "Buerobedarf" }],
    ["with other contacts", { ...beneficiary, nickname: "x", email: "x@example.com" }],
    ["with the IBAN spelled", { ...beneficiary, iban: iban.replaceAll(/(.{4})/g, "$1 ") }],
    ["with the bank's code", { ...beneficiary, swift_code: "COBADEFFXXX" }],
  ])("%s", async (_how, other) => {
    const { operations } = await rig();
    await startRun(operations, "CS-1", plan(to(beneficiary)), ada);
    await expect(startRun(operations, "CS-2", plan(to(other)), ada)).rejects.toThrow(
      "CS-2 is likely a duplicate: the same payee, amount and currency as CS-1",
    );
  });

  test("and one without an IBAN is its number in its country, by whichever codes", async () => {
    const { operations } = await rig();
    const { iban: _iban, ...rest } = plain;
    const account = { ...rest, bank_country: "SG", account_number: "0012345678" };
    const coded = { ...account, routing_code_type1: "bank_code", routing_code_value1: "7171" };
    await startRun(operations, "sg-1", plan(to({ ...coded, swift_code: "DBSSSGSG" })), ada);
    for (const other of [coded, { ...account, swift_code: "DBSSSGSGXXX" }, account])
      await expect(startRun(operations, "sg-2", plan(to(other)), ada)).rejects.toThrow("as sg-1");
    const another = { ...account, account_number: "0012345679" };
    expect(await startRun(operations, "sg-3", plan(to(another)), ada)).toMatchObject({
      isNew: true,
    });
  });
});

describe("a person who was onboarded", () => {
  const { card, cardholder } = inputs;
  const onboard = (holder: object, card_limit = "100.00") =>
    planOnboarding({ cardholder: holder, card: { ...card, card_limit } }, defaultAssumptions);

  test.each([
    ["with the same data", cardholder, "100.00"],
    ["with another card limit", cardholder, "5.00"],
    ["with another email", { ...cardholder, email: "other@example.com" }, "100.00"],
    ["by the email alone", { ...cardholder, first_name: "A.", date_birth: "1991-01-01" }, "100.00"],
    ["in capitals", { ...cardholder, last_name: cardholder.last_name.toUpperCase() }, "100.00"],
  ])("is refused under another id: %s", async (_how, other, limit) => {
    const { operations } = await rig();
    await startRun(operations, "a1", onboard(cardholder), ada);
    const again = startRun(operations, "a2", onboard(other, limit), ada);
    await expect(again).rejects.toMatchObject({
      message: expect.stringContaining("a2 is likely a duplicate: the same person as a1"),
      next: { action: "onboard", id: "a2" },
    });
  });

  test("is known by marks: the ledger has neither name nor email", async () => {
    const { ledger, operations } = await rig();
    await startRun(operations, "a1", onboard(cardholder), ada);
    const kept = JSON.stringify(await ledger.runs({}));
    for (const said of [cardholder.first_name, cardholder.email, cardholder.date_birth])
      expect(kept).not.toContain(said);
    const other = { ...cardholder, email: "other@example.com", date_birth: "1991-01-01" };
    expect(await startRun(operations, "a2", onboard(other), ada)).toMatchObject({ isNew: true });
  });
});

test("a reason starts what is no duplicate; a reason that says nothing is refused", async () => {
  const { operations } = await rig();
  await startRun(operations, "first", plan(pays(REFERENCE)), ada);
  const again = (notDuplicate: string) =>
    startRun(operations, "again", plan(pays(REFERENCE)), { ...ada, notDuplicate });
  await expect(again(" \u200b")).rejects.toThrow("The reason (notDuplicate) must not be empty");
  expect(await again("Two invoices have this number")).toMatchObject({ isNew: true });
});

test("a start that Temporal refused makes nobody the starter of the run that has the id", async () => {
  const { ledger, operations } = await rig();
  const refusing = { workflow: { start: () => Promise.reject(new Error("already started")) } };
  const program = { key: "k-1", startedBy: "robot", args: [pays(REFERENCE)] as [unknown], ledger };
  // Only `start` of the client is called.
  const client = refusing as unknown as typeof operations.client;
  await expect(
    startPayment<(input: unknown) => Promise<void>>(client, "payWages", program),
  ).rejects.toThrow("already");
  expect(await ledger.decisionsOf("payWages/k-1")).toEqual([]);
});
