import { type Ledger, LedgerUnavailable, openLedger } from "@durable-payments/ledger";
import { expect, it, vi } from "vitest";
import { ledgerCheck } from "../src/health.ts";

it("is not ready after a minute in which the ledger can be read and not written, and says why", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const closed = new AbortController();
  const ledger = await openLedger("memory");
  try {
    const full = async () => {
      throw new LedgerUnavailable("its disk is full");
    };
    const check = vi.fn<Ledger["check"]>(full);
    const isReady = ledgerCheck({ ...ledger, check }, closed.signal);
    await expect.poll(() => check.mock.calls.length).toBe(1);
    expect(isReady()).toEqual({ check: "ledger", ok: true });
    vi.advanceTimersByTime(61_000);
    expect(isReady()).toEqual({ check: "ledger", ok: false, why: "for 61 s: its disk is full" });
  } finally {
    closed.abort();
    vi.useRealTimers();
    await ledger.close();
  }
});
