import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { readAssumptions } from "./support/contract-documentation.ts";
import {
  type Assumptions,
  defaultAssumptions,
  inWindow,
  type OperationName,
  PaymentsClient,
  readTime,
  WINDOW_EDGE_MS,
} from "../src/effect.ts";
import { AssumptionsSchema } from "../src/contract/assumptions.ts";
import { checkInput, fromWire } from "../src/contract.ts";
import { wireMethod, toWire } from "../src/contract/wire-names.ts";
import { answers } from "./support/responses.ts";
import { exchange, failedExchange, settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { refusal, type Reply } from "./support/server.ts";

type Name = keyof Assumptions;

/** What one request looks like under some assumptions. */
const sentWith = async (assumptions: object, name: OperationName, changes: object = {}) => {
  const { sent } = await exchange(name, { ...requests[name], ...changes }, answers[name], {
    assumptions,
  });
  return { method: sent.method, query: sent.query, body: sent.body };
};

const outcomeOf = (assumptions: object, name: OperationName, reply: Reply): Promise<string> =>
  failedExchange(name, requests[name], () => reply, { assumptions, maxAttempts: 1 }).then(
    ({ error }) => `${error._tag} ${error.carriedOut}`,
    () => "Success",
  );

/** Handed on to whoever waits for a payout, a cardholder or a card, or looks one up. */
const handedOn = <N extends Name>(name: N, to: Assumptions[N]) => ({
  read: (assumptions: object) =>
    PaymentsClient.use((client) => Effect.succeed(client.options.assumptions[name])).pipe(
      Effect.provide(
        PaymentsClient.layer(settingsFor("https://payments.example", { assumptions })),
      ),
      Effect.runPromise,
    ),
  by: defaultAssumptions[name],
  override: { [name]: to },
  to,
});

const TIME = "2026-11-21T10:00:00.000";

const everything = {
  date_type: "create_time",
  scope: "house_account",
  short_reference_id: "P1",
  start: 1000,
  end: 61_999,
};

/**
 * Each assumption: something that depends on it, what that is by default, an override, and what it
 * is then.
 */
const SIDES: {
  readonly [N in Name]: {
    readonly read: (assumptions: object) => unknown;
    readonly by: unknown;
    readonly override: object;
    readonly to: unknown;
  };
} = {
  updateBeneficiaryMethod: {
    read: async (assumptions) => (await sentWith(assumptions, "updateBeneficiary")).method,
    by: "POST",
    override: { updateBeneficiaryMethod: "PATCH" },
    to: "PATCH",
  },
  listPayoutsParameters: {
    read: async (assumptions) =>
      (await sentWith(assumptions, "listPayouts", { ...everything, status: "closed" })).query,
    by: {
      page_num: "1",
      page_size: "50",
      date_type: "create_time",
      scope: "house_account",
      short_reference_id: "P1",
      status: "closed",
      start_time: "1000",
      end_time: "61999",
    },
    override: {
      listPayoutsParameters: {
        date_type: "dateType",
        scope: "whose",
        short_reference_id: "short_id",
        status: "payout_status",
        start: "from",
        end: "to",
      },
    },
    to: {
      page_num: "1",
      page_size: "50",
      dateType: "create_time",
      whose: "house_account",
      short_id: "P1",
      payout_status: "closed",
      from: "1000",
      to: "61999",
    },
  },
  timeZone: {
    read: (assumptions) =>
      new Date(
        readTime(TIME, { ...defaultAssumptions, ...assumptions })?.earliest ?? 0,
      ).toISOString(),
    // 10:00 in the zone that is furthest ahead.
    by: "2026-11-20T20:00:00.000Z",
    override: { timeZone: "Asia/Singapore" },
    to: "2026-11-21T02:00:00.000Z",
  },
  listTransactionsParameters: {
    read: async (assumptions) =>
      (
        await sentWith(assumptions, "listTransactions", {
          ...everything,
          transaction_type: "fee",
          transaction_status: "1",
        })
      ).query,
    by: {
      page_num: "1",
      page_size: "100",
      date_type: "create_time",
      scope: "house_account",
      short_reference_id: "P1",
      transaction_type: "fee",
      transaction_status: "1",
      start_time: "1000",
      end_time: "61999",
    },
    override: {
      listTransactionsParameters: {
        page_num: "page",
        page_size: "size",
        transaction_type: "type",
        transaction_status: "status",
        start: "start",
        end: "end",
      },
    },
    to: {
      page: "1",
      size: "100",
      date_type: "create_time",
      scope: "house_account",
      short_reference_id: "P1",
      type: "fee",
      status: "1",
      start: "1000",
      end: "61999",
    },
  },
  listCardholdersParameters: {
    read: async (assumptions) =>
      (
        await sentWith(assumptions, "listCardholders", {
          direct_account_id: "d",
          card_account_id: "c",
          card_holder_status: 1,
          name: "Ada",
        })
      ).query,
    by: {
      page_num: "1",
      page_size: "50",
      direct_account_id: "d",
      card_account_id: "c",
      card_holder_status: "1",
      name: "Ada",
    },
    override: {
      listCardholdersParameters: {
        direct_account_id: "account",
        card_account_id: "card_account",
        card_holder_status: "status",
        name: "search",
      },
    },
    to: {
      page_num: "1",
      page_size: "50",
      account: "d",
      card_account: "c",
      status: "1",
      search: "Ada",
    },
  },
  deliveryAddressField: {
    read: async (assumptions) => {
      const { body } = await sentWith(assumptions, "createCardholder", { delivery_address: "x" });
      return Object.entries(JSON.parse(body) as object).find(([, value]) => value === "x")?.[0];
    },
    by: "delivery_address",
    override: { deliveryAddressField: "mailing_address" },
    to: "mailing_address",
  },
  rangeBoundUnit: {
    read: async (assumptions) => {
      const { query } = await sentWith(assumptions, "listPayouts", { start: 1000, end: 61_999 });
      return [query["start_time"], query["end_time"]];
    },
    by: ["1000", "61999"],
    override: { rangeBoundUnit: "seconds" },
    to: ["1", "61"],
  },
  listWindow: handedOn("listWindow", "none"),
  rejectedTokenCodes: {
    read: async (assumptions) => [
      await outcomeOf(assumptions, "cancelCard", { status: 401 }),
      await outcomeOf(assumptions, "cancelCard", refusal("no", 401)),
      await outcomeOf(assumptions, "cancelCard", { status: 403 }),
      await outcomeOf(assumptions, "cancelCard", { body: { code: 403, message: "no" } }),
    ],
    by: [
      "OutcomeUnknown unknown",
      "NotAuthenticated no",
      "OutcomeUnknown unknown",
      "RequestRefused no",
    ],
    override: { rejectedTokenCodes: [403] },
    to: [
      "OutcomeUnknown unknown",
      "RequestRefused no",
      "OutcomeUnknown unknown",
      "NotAuthenticated no",
    ],
  },
  rejectedTokenWords: {
    read: async (assumptions) => [
      await outcomeOf(assumptions, "cancelCard", refusal("Token expired")),
      await outcomeOf(assumptions, "cancelCard", refusal("Pass is over")),
    ],
    by: ["NotAuthenticated no", "RequestRefused no"],
    override: { rejectedTokenWords: ["pass"] },
    to: ["RequestRefused no", "NotAuthenticated no"],
  },
  // When a token is renewed is shown in session/session.test.ts, for both sides.
  tokenLifetimeSeconds: {
    read: ({
      tokenLifetimeSeconds = defaultAssumptions.tokenLifetimeSeconds,
    }: Partial<Assumptions>) => tokenLifetimeSeconds,
    by: 600,
    override: { tokenLifetimeSeconds: 100 },
    to: 100,
  },
  // When a token that is not used is renewed is shown there, too, for both sides.
  tokenIdleSeconds: {
    read: ({ tokenIdleSeconds = defaultAssumptions.tokenIdleSeconds }: Partial<Assumptions>) =>
      tokenIdleSeconds,
    by: 600,
    override: { tokenIdleSeconds: 100 },
    to: 100,
  },
  notCarriedOutStatuses: {
    read: async (assumptions) => [
      await outcomeOf(assumptions, "createPayout", { status: 503 }),
      await outcomeOf(assumptions, "createPayout", { status: 502 }),
      await outcomeOf(assumptions, "createPayout", refusal("busy", 503)),
      await outcomeOf(assumptions, "createPayout", { status: 403, body: "<html>" }),
      await outcomeOf(assumptions, "createPayout", { status: 401, body: "<html>" }),
      await outcomeOf(assumptions, "createPayout", refusal("busy", 429)),
      await outcomeOf(assumptions, "retrievePayout", refusal("busy", 429)),
    ],
    by: [...Array<string>(5).fill("OutcomeUnknown unknown"), "RateLimited no", "RateLimited no"],
    override: { notCarriedOutStatuses: [401, 403, 503] },
    to: [
      "Unavailable no",
      "OutcomeUnknown unknown",
      "Unavailable no",
      "Unavailable no",
      "NotAuthenticated no",
      "OutcomeUnknown unknown",
      "Unavailable no",
    ],
  },
  payoutKeyInBody: {
    read: async (assumptions) => {
      const { body } = await sentWith(assumptions, "createPayout", { unique_request_id: "k-1" });
      return body.includes("k-1");
    },
    by: true,
    override: { payoutKeyInBody: false },
    to: false,
  },
  payoutFieldsAsSent: handedOn("payoutFieldsAsSent", ["payout_id"]),
  payoutCompletedStatuses: handedOn("payoutCompletedStatuses", ["something_else"]),
  payoutFailedStatuses: handedOn("payoutFailedStatuses", ["something_else"]),
  payoutReturnedStatuses: handedOn("payoutReturnedStatuses", ["something_else"]),
  completeTimeStatuses: handedOn("completeTimeStatuses", ["something_else"]),
  cardholderVerifiedStatuses: handedOn("cardholderVerifiedStatuses", ["something_else"]),
  cardholderRefusedStatuses: handedOn("cardholderRefusedStatuses", ["something_else"]),
  cardholderIncompleteStatuses: handedOn("cardholderIncompleteStatuses", ["something_else"]),
  listLagSeconds: handedOn("listLagSeconds", 7),
  reconciliationMaxPages: handedOn("reconciliationMaxPages", 7),
  clockSkewSeconds: handedOn("clockSkewSeconds", 7),
  payoutKeyEcho: handedOn("payoutKeyEcho", "none"),
  alreadySoRefusals: {
    read: async (assumptions) => [
      await outcomeOf(assumptions, "cancelCard", refusal("Card is already cancelled")),
      await outcomeOf(assumptions, "cancelCard", refusal("Nothing to cancel")),
      await outcomeOf(assumptions, "freezeCard", refusal("Card is already frozen")),
    ],
    by: ["Success", "RequestRefused no", "Success"],
    override: { alreadySoRefusals: { cancelCard: ["nothing to"] } },
    to: ["RequestRefused no", "Success", "Success"],
  },
  amountFractionDigits: {
    read: (overrides) => {
      const assumptions = { ...defaultAssumptions, ...overrides };
      return ["1.5", "1.555", "1.5555"].map(
        (amount) =>
          checkInput("createPayout", { ...requests.createPayout, amount }, { assumptions }).length,
      );
    },
    by: [0, 1, 1],
    override: { amountFractionDigits: 3 },
    to: [0, 0, 1],
  },
};

describe.each(Object.entries(SIDES))("%s", (_, { by, override, read, to }) => {
  it("has a default", async () => {
    expect(await read({})).toStrictEqual(by);
  });

  it("can be overridden", async () => {
    expect(await read(override)).toStrictEqual(to);
  });
});

it("every assumption is in the table above, and has a description", () => {
  const names = Object.keys(AssumptionsSchema.fields).toSorted();
  expect(Object.keys(SIDES).toSorted()).toStrictEqual(names);
  const descriptions = readAssumptions();
  expect([...descriptions.keys()].toSorted()).toStrictEqual(names);
  for (const description of descriptions.values()) expect(description).toMatch(/\w\.$|\)\.?$/);
  // TypeScript reads the docstrings.
});

describe("a window of a list", () => {
  const window = inWindow("create_time", { from: 61_500, to: 122_001 });
  it.each(["milliseconds", "seconds"] as const)(
    "hides no row at its edge, whatever the service does with bounds in %s",
    (rangeBoundUnit) => {
      const wire = toWire("listPayouts", window, { ...defaultAssumptions, rangeBoundUnit });
      const unit = rangeBoundUnit === "seconds" ? 1 : 1_000;
      expect([wire["date_type"], Number(wire["start_time"]), Number(wire["end_time"])]).toEqual([
        "create_time",
        60 * unit,
        124 * unit,
      ]);
      expect(61_500 - Number(window.start)).toBeLessThan(WINDOW_EDGE_MS);
    },
  );

  it("is open, and begins at the beginning of time", () => {
    expect(inWindow("settle_time", { from: -Infinity })).toStrictEqual({
      date_type: "settle_time",
      start: 0,
    });
  });
});

describe("for a server", () => {
  const assumptions: Assumptions = {
    ...defaultAssumptions,
    rangeBoundUnit: "seconds",
    deliveryAddressField: "mailing_address",
    updateBeneficiaryMethod: "PUT",
  };

  it("names and units are turned back", () => {
    const filters = { page_num: "1", start: 1000, end: 2000, status: "closed" };
    const wire = toWire("listPayouts", filters, assumptions);
    expect(wire).toStrictEqual({ page_num: "1", start_time: "1", end_time: "2", status: "closed" });
    expect(fromWire("listPayouts", wire, assumptions)).toStrictEqual({
      ...filters,
      start: "1000",
      end: "2000",
    });
    expect(fromWire("createCardholder", { mailing_address: "x" }, assumptions)).toStrictEqual({
      delivery_address: "x",
    });
    expect(fromWire("createCard", { start: "x" }, assumptions)).toStrictEqual({ start: "x" });
  });

  it("the method of updateBeneficiary is the assumed one, of others their own", () => {
    expect(wireMethod("updateBeneficiary", "POST", assumptions)).toBe("PUT");
    expect(wireMethod("createCard", "POST", assumptions)).toBe("POST");
  });
});

it("a status that is not carried out is tried again, and a payout goes through", async () => {
  const { result, sent } = await exchange(
    "createPayout",
    requests.createPayout,
    (_received, n) => (n === 0 ? { status: 503 } : answers.createPayout),
    { assumptions: { notCarriedOutStatuses: [503] } },
  );
  expect(result).toMatchObject({ payout_id: "p-1" });
  expect(sent.body).toBe(JSON.stringify(requests.createPayout));
});
