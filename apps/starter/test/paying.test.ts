// A file that is already uploaded: neither text nor exit code says that more is paid than is.
import type { Payments } from "@durable-payments/control/payments";
import { expect, test } from "vitest";
import { submit } from "../src/input/paying.ts";
import type { Output } from "../src/output/output.ts";

const PLAN = {
  type: "payout",
  batch: "payouts/4d34",
  rows: 20,
  toPay: 0,
  totals: {},
  known: [],
  unlikely: [],
  warnings: [],
  needsApproval: false,
  approvedBy: null,
};

const FLAGS = {
  by: "ada",
  file: "november.csv",
  json: false,
  wait: false,
  timeout: undefined,
  approveAbove: undefined,
  id: undefined,
  key: undefined,
  notDuplicate: undefined,
  window: 200,
};

const pay = async (state: string | null, isDryRun: boolean, given = {}) => {
  const { notDuplicate, ...plan } = { ...PLAN, notDuplicate: undefined, ...given };
  const said: Array<string> = [];
  const output = {
    json: false,
    isPaged: false,
    answered: false,
    onInterrupt: undefined,
    isClosed: () => false,
    say: (line: string) => said.push(line),
    answer: <A>(data: A, text: (shown: A) => string) => said.push(text(data)),
  } as unknown as Output;
  const payments = {
    checkFile: async () => ({ ...plan, state }),
    payFile: async () => ({ ...plan, state, createdBy: "ada" }),
  } as unknown as Payments;
  const code = await submit(output, payments, "pay", {
    ...FLAGS,
    notDuplicate,
    isDryRun,
    yes: !isDryRun,
  });
  return { code: code ?? 0, text: said.join("\n") };
};

test.each([
  ["finished", 0, /To pay: 0 rows, nothing\nBatch: payouts\/4d34, uploaded before: finished/],
  ["cancelled", 6, /To pay: 0 rows, nothing\nBatch: payouts\/4d34, uploaded before: cancelled/],
])("a check of a file that is %s says that nothing is paid", async (state, code, text) => {
  expect(await pay(state, true)).toEqual({ code, text: expect.stringMatching(text) });
});

test.each([
  ["approved", 0, /uploaded by ada, its rows are being started/],
  ["finished", 0, /uploaded by ada, finished: .*nothing is started again/],
  ["cancelled", 6, /uploaded by ada, cancelled: no more of its rows are started/],
  ["rejected", 6, /uploaded by ada, rejected: none of its rows is started/],
])("a file that is %s is paid with exit code %i", async (state, code, text) => {
  expect(await pay(state, false)).toEqual({ code, text: expect.stringMatching(text) });
});

test("a file that a second person has approved in the meantime is called approved", async () => {
  const approved = { approvedBy: "grace" };
  expect((await pay("approved", false, approved)).text).toMatch(
    /uploaded by ada, approved by grace$/m,
  );
  const { text } = await pay("approved", true, approved);
  expect(text).toContain("uploaded before: approved by grace");
});

const duplicates = { warnings: ["Row 1 may be a duplicate of invoice-17"] };

test.each([
  [6, "likely duplicates", null, duplicates],
  [0, "likely duplicates and a reason", null, { ...duplicates, notDuplicate: "other goods" }],
  [0, "likely duplicates that was uploaded before", "approved", duplicates],
  [0, "no likely duplicates", null, {}],
])("a check ends with %i, as the file itself would, with %s", async (code, _, state, given) => {
  expect(await pay(state, true, given)).toMatchObject({ code });
});
