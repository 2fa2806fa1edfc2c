import { lateAfterMsOf } from "@durable-payments/protocol/settings";
import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { approveLimits, readLimits, setLimits } from "../../src/actions/limits.ts";
import { checkLedger } from "../../src/views/doctor/ledger-checks.ts";
import { readInbox } from "../../src/views/inbox.ts";
import { ACCOUNT } from "../support/rows.ts";

const ada = { by: "ada", how: "--by", reason: "larger invoices" };
const grace = { by: "grace", how: "--by" };
const TIGHT = { maxAmounts: { EUR: "1000.00" }, approveAbove: { EUR: "100.00" } };

const limited = async () => {
  const ledger = await openLedger("memory");
  await setLimits({ ledger }, ACCOUNT, TIGHT, ada);
  return { ledger };
};

test("a first and a tighter limit apply at once, and what is left out stays", async () => {
  const opened = await limited();
  const now = await setLimits(opened, ACCOUNT, { approveAbove: { EUR: "50.00" } }, ada);
  expect(now).toMatchObject({ ...TIGHT, approveAbove: { EUR: "50.00" } });
  expect(now.pending).toBeUndefined();
});

test("a looser limit waits in the inbox and in doctor's report for another person who has read it", async () => {
  const opened = await limited();
  const asked = await setLimits(opened, ACCOUNT, { maxAmounts: null }, ada);
  expect(asked).toMatchObject({ ...TIGHT, pending: { by: "ada", maxAmounts: null } });
  expect((await readInbox(opened.ledger, lateAfterMsOf())).items).toMatchObject([
    {
      kind: "limits",
      workflowId: `limits/${ACCOUNT}`,
      reason: "ada asks for looser limits: larger invoices",
      details: [
        "Now: at most 1000.00 EUR, no other currency; approval above 100.00 EUR, always in other currencies.",
        "Then: approval above 100.00 EUR, always in other currencies.",
      ],
      hash: String(asked.pending?.sequence),
    },
  ]);
  const checks = await checkLedger(opened.ledger, undefined, [], []);
  expect(checks.find(({ name }) => name === "limits")).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("ada asks for approval above 100.00 EUR") as string,
  });

  const hash = String(asked.pending?.sequence);
  await expect(approveLimits(opened, ACCOUNT, { ...grace, by: "ADA", hash })).rejects.toThrow(
    "another person has to approve them",
  );
  await setLimits(opened, ACCOUNT, { approveAbove: null }, ada);
  await expect(approveLimits(opened, ACCOUNT, { ...grace, hash })).rejects.toThrow(
    "changed since they were shown",
  );
  const again = String((await readLimits(opened))[0]?.pending?.sequence);
  await approveLimits(opened, ACCOUNT, { ...grace, hash: again });
  expect(await readLimits(opened)).toMatchObject([{ ...TIGHT, approveAbove: null }]);
  await expect(approveLimits(opened, ACCOUNT, { ...grace, hash })).rejects.toThrow(
    "No limits are waiting",
  );
});

test("limits say what becomes of a currency that they no longer list", async () => {
  const opened = await limited();
  const both = { maxAmounts: { EUR: "1000.00", USD: "500.00" }, approveAbove: null };
  const asked = await setLimits(opened, ACCOUNT, both, ada);
  await approveLimits(opened, ACCOUNT, { ...grace, hash: String(asked.pending?.sequence) });
  await setLimits(opened, ACCOUNT, { maxAmounts: { EUR: "2000.00" } }, ada);
  expect((await readInbox(opened.ledger, lateAfterMsOf())).items).toMatchObject([
    {
      details: [
        "Now: at most 1000.00 EUR, 500.00 USD, no other currency.",
        "Then: at most 2000.00 EUR, no other currency.",
      ],
    },
  ]);
});

test.each([{ EUR: "-1" }, { EUR: 100 }, { eur: "1" }, { EUR: "1e9" }, "EUR=1", []])(
  "limits of %j are refused",
  async (maxAmounts) => {
    const opened = await limited();
    await expect(setLimits(opened, ACCOUNT, { maxAmounts }, ada)).rejects.toThrow(
      "must be amounts by currency",
    );
    expect(await opened.ledger.limits(ACCOUNT)).toMatchObject(TIGHT);
  },
);

test("limits need a name and a reason", async () => {
  const opened = await limited();
  await expect(setLimits(opened, ACCOUNT, TIGHT, grace)).rejects.toThrow("A reason is required");
  await expect(setLimits(opened, ACCOUNT, TIGHT, { ...ada, by: "" })).rejects.toThrow("name");
});
