import * as Redacted from "effect/Redacted";
import { describe, expect, it } from "vitest";
import { CannotStart, PaymentsPlugin } from "../src/index.ts";
import { readWorkerSettings } from "../src/settings.ts";
import { vouchingInterceptor } from "../src/vouching.ts";

const book = { repeat: "keyed", send: async () => ({ id: "1" }), listLagMs: 0 } as const;

describe("settings of the program", () => {
  it.each([
    [{ maxAmount: {} }, /did you mean maxAmounts\?/],
    [
      { accounts: { eu: { clientID: "" } } },
      /The account eu has no setting clientID \(did you mean clientId\?\)/,
    ],
    [{ accounts: { EU: {} } }, /accounts\.EU must have a name/],
    [{ maxAmounts: { USD: 1 } }, /The setting maxAmounts\.USD must be/],
    [
      { notify: { overduHours: 1 } },
      /notify\.overduHours is not a known name \(did you mean overdueHours\?\)/,
    ],
    [{ healthAddress: 70_000 }, /healthAddress must be a port/],
    [{ activitiesPerSecond: Number.NaN }, /activitiesPerSecond must be/],
    [{ onReady: 1 }, /onReady of PaymentsPlugin must be a function/],
    [{ operations: { book: 1 } }, /The operation book must be an object/],
    // Each of these would send again what may be there.
    [{ operations: { book: { ...book, repeat: "key" } } }, /book: repeat must be "none", "keyed"/],
    [
      { operations: { book: { ...book, listLagMs: Number.NaN } } },
      /book: listLagMs must be from 0/,
    ],
    [{ operations: { book: { ...book, timeoutMs: 2 ** 31 } } }, /book: timeoutMs must be from 1/],
    [
      { operations: { book: { ...book, listLag: 1 } } },
      /book has no setting listLag \(did you mean listLagMs\?/,
    ],
    [{ operations: { book: { repeat: "none" } } }, /book: send must be a function/],
  ])("that are invalid are refused: %j", (settings, message) => {
    const make = () => new PaymentsPlugin(settings as object);
    expect(make).toThrow(CannotStart);
    expect(make).toThrow(message);
  });

  it("may have operations of the user's own", () => {
    expect(() => new PaymentsPlugin({ operations: { book } })).not.toThrow();
  });

  it("count before those of the environment", () => {
    const environment = {
      PAYMENTS_CLIENT_ID: "c",
      PAYMENTS_API_KEY_FILE: "key",
      PAYMENTS_MAX_AMOUNTS: '{"USD": "10.00"}',
      PAYMENTS_HEALTH_ADDRESS: "9464",
    };
    const apiKey = Redacted.make("key");
    const program = { apiKey, approveAbove: { EUR: "1.00" }, healthAddress: 0 };
    const { accounts, healthAddress } = readWorkerSettings(program, environment);
    expect(healthAddress).toBe("0");
    expect(accounts.get(undefined)).toEqual({
      clientId: "c",
      apiKey,
      maxAmounts: { USD: "10.00" },
      approveAbove: { EUR: "1.00" },
    });
  });
});

describe("a client with the plugin", () => {
  const started = async (options: object): Promise<Record<string, unknown>> => {
    let seen: Record<string, unknown> = {};
    await vouchingInterceptor().startWithDetails?.(
      { workflowType: "payout", headers: {}, options: { workflowId: "a", ...options } } as never,
      async ({ options: given }) => {
        seen = { ...given };
        return { runId: "", eagerlyStarted: false };
      },
    );
    return seen;
  };

  it("vouches for a run that is the first of its id", async () => {
    expect(await started({})).toMatchObject({
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      memo: { "durable-payments/voucher": { workflowId: "a", is: "first" } },
    });
  });

  it.each([
    { cronSchedule: "* * * * *" },
    { workflowIdReusePolicy: "ALLOW_DUPLICATE" },
    { workflowIdConflictPolicy: "USE_EXISTING" },
  ])("does not vouch for one that may not be: %o", async (options) => {
    expect((await started(options))["memo"]).toBeUndefined();
  });
});
