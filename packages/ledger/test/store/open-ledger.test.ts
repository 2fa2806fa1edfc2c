import { join } from "node:path";
import { expect, it } from "vitest";
import { readLedgerPlace } from "../../src/index.ts";

it("reads where the ledger is", () => {
  expect(readLedgerPlace(undefined, "c1")).toMatch(/^sqlite:\/.*durable-payments\/c1\.sqlite$/);
  expect(readLedgerPlace("sqlite:a.sqlite", "c1")).toBe(
    `sqlite:${join(process.cwd(), "a.sqlite")}`,
  );
  expect(readLedgerPlace("memory", "c1")).toBe("memory");
  expect(readLedgerPlace("postgresql://db/pay", "c1")).toBe("postgres://db/pay");
  expect(() => readLedgerPlace("mysql://me:secret@db", "c1")).toThrow(
    /^PAYMENTS_LEDGER must be sqlite:FILE/,
  );
  expect(() => readLedgerPlace("none", "c1")).toThrow(/must be/);
});
