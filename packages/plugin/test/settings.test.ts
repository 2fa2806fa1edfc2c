import { describe, expect, it } from "vitest";
import { CannotStart, PaymentsPlugin } from "../src/index.ts";
import { vouchingInterceptor } from "../src/client/vouching.ts";
import {
  readActivitiesPerSecond,
  readBatchShare,
  readLimits,
} from "../src/settings/read-settings.ts";

describe("settings", () => {
  it("that are misspelt are refused, with the name that was meant", () => {
    expect(() => new PaymentsPlugin({ maxAmount: {} } as object)).toThrow(
      /did you mean maxAmounts\?/,
    );
  });

  it.each(['{"USD": 1}', "", "[]", '{"usd": "1.00"}', '{"USD": "1", "USD": "2"}'])(
    "of a limit that is no limit are refused: %s",
    (text) => {
      expect(() => readLimits({}, { PAYMENTS_MAX_AMOUNTS: text })).toThrow(CannotStart);
    },
  );

  it("come from the environment where they are not given", () => {
    const environment = {
      PAYMENTS_MAX_AMOUNTS: '{"USD": "10.00"}',
      PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: "5",
    };
    expect(readLimits({ approveAbove: { EUR: "1.00" } }, environment)).toEqual({
      maxAmounts: { USD: "10.00" },
      approveAbove: { EUR: "1.00" },
    });
    expect(readActivitiesPerSecond({}, environment)).toBe(5);
    expect(readBatchShare({}, environment)).toBe(0.5);
  });

  it.each([0, -1, NaN])("of a rate of %s are refused", (activitiesPerSecond) => {
    expect(() => readActivitiesPerSecond({ activitiesPerSecond }, {})).toThrow(CannotStart);
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
