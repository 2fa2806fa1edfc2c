import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readAmendments } from "../../src/facts/read-amendments.ts";

// Whoever reads the amendments of a file has to get what its author sees in it, and nothing else.

const read = async (text: string) => {
  const folder = await mkdtemp(join(tmpdir(), "amendments-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "fix.csv");
  await writeFile(file, text);
  return readAmendments(file);
};

test("each row is a patch of its cells that are not empty", async () => {
  expect(await read("id,payout.amount,payout.currency,card.name\na,1.00,EUR,\nb,,,Ada\n")).toEqual({
    a: { payout: { amount: "1.00", currency: "EUR" } },
    b: { card: { name: "Ada" } },
  });
});

test("a column that is named twice is refused: one of its cells would be ignored", async () => {
  await expect(read("id,payout.amount, payout.amount\na,1.00,9.00\n")).rejects.toThrow(
    "names the column payout.amount twice",
  );
});

test("columns that semicolons separate, and rows of another length, are refused in words", async () => {
  await expect(read("id;payout.amount;x\na;150,00;1\n")).rejects.toThrow("separated by commas");
  await expect(read("id,payout.amount\na,1,500.00\n")).rejects.toMatchObject({
    faults: [{ row: 2, problem: expect.stringContaining("has 3 cells, but the header has 2") }],
  });
});

test("no column changes any other object", async () => {
  await read("id,__proto__.amount,payout.constructor.amount\na,9.00,9.00\n").catch(() => undefined);
  expect(Reflect.get({}, "amount")).toBeUndefined();
  expect(Reflect.get(Object, "amount")).toBeUndefined();
});
