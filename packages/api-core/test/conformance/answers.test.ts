import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import { operation } from "../../src/client/operations.ts";
import { Token } from "../../src/contract/auth.ts";
import { type OperationName, operationNames } from "../../src/effect.ts";
import { clientFor, exchange, failedExchange, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { type Reply, refusal, startServer, success } from "../support/server.ts";

const enveloped = operationNames.filter((name) => name !== "ping");
const ZERO_TIME = "0001-01-01T00:00:00Z";
const isRead = (name: OperationName) => operation(name).idempotency === "safe";

/** The answer of an operation with one field written so. */
const answerWith = (data: object, field: string, written: string): Reply => ({
  body: `{"code":200,"message":"Success","data":${JSON.stringify({ ...data, [field]: "?" }).replace('"?"', written)}}`,
});

describe.each(operationNames)("%s", (name) => {
  it("is refused by code 400, whatever the HTTP status of success or refusal", async () => {
    for (const status of [200, 201, 400, 403, 404, 422]) {
      for (const code of [400, "400"]) {
        const { error, requests: sent } = await failedExchange(name, requests[name], {
          status,
          body: { code, message: "Balance is too low" },
        });
        expect(error).toMatchObject({
          _tag: "RequestRefused",
          operation: name,
          carriedOut: "no",
          code: 400,
          reason: "Balance is too low",
          message: `${name} was refused with HTTP ${status} and code 400.`,
        });
        expect(sent).toHaveLength(1);
      }
    }
  });
});

/** The right answer of an operation with another message. */
const withMessage = (name: OperationName, message: string) => ({
  body: { ...(answers[name].body as object), message },
});

it.each(enveloped.filter(isRead))("%s reads a success whatever its message", async (name) => {
  const plain = await exchange(name, requests[name], answers[name]);
  const { result } = await exchange(name, requests[name], withMessage(name, "All good"));
  expect(result).toStrictEqual(plain.result);
});

it.each(enveloped.filter((name) => !isRead(name)))(
  "%s is unknown after a success with another message, and not sent again",
  async (name) => {
    const reply = withMessage(name, "Cannot be done");
    const { error, requests: sent } = await failedExchange(name, requests[name], reply);
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      carriedOut: "unknown",
      message: expect.stringContaining(
        `${name} was answered with success, but with an undocumented message. `,
      ),
      reason: "Cannot be done",
    });
    expect(sent).toHaveLength(1);
  },
);

it.each(enveloped)("%s is not refused by a message of success", async (name) => {
  const body = { code: 400, message: " success ", data: { id: "p-1" } };
  expect((await failedExchange(name, requests[name], { body })).error).toMatchObject({
    _tag: "UnexpectedAnswer",
    carriedOut: isRead(name) ? "no" : "unknown",
  });
});

// Temporal's worker ends as a whole if a failure has half of a character: Rust reads no such text.
it.each([
  ["cut by the service", "Reference \ud83d is too long", "Reference \ufffd is too long"],
  ["cut by us", `${"x".repeat(499)}\u{1F600} is too long`, `${"x".repeat(499)}\ufffd`],
])("a reason has no half of a character: %s", async (_, message, reason) => {
  const body = { code: 400, message };
  const { error } = await failedExchange("createPayout", requests.createPayout, { body });
  expect(error).toMatchObject({ _tag: "RequestRefused", reason });
});

it("a field has no half of a character", async () => {
  const { data } = answers.retrievePayout.body as { readonly data: object };
  const reply = answerWith(data, "payout_status", String.raw`"\ud83d"`);
  const { result } = await exchange("retrievePayout", requests.retrievePayout, reply);
  expect(result).toMatchObject({ payout_status: "\ufffd" });
});

describe("an id", () => {
  const IDS: ReadonlyArray<readonly [OperationName, string]> = [
    ["createPayout", "id"],
    ["createBeneficiary", "beneficiary_id"],
    ["createCardholder", "card_holder_id"],
    ["createCard", "card_id"],
    ["withdrawFromCard", "card_id"],
    ["retrieveBalance", "balance_id"],
    ["retrievePayout", "payout_id"],
  ];

  it.each(IDS)("of %s must be one: %s", async (name, field) => {
    const { data } = answers[name].body as { readonly data: object };
    const notIds = ["", " ", "0", "000", "-", "null", "None", "n/a"].map((id) =>
      JSON.stringify(id),
    );
    for (const id of ["null", "true", "1e400", "{}", ...notIds]) {
      const { error } = await failedExchange(name, requests[name], answerWith(data, field, id));
      expect(error).toMatchObject({
        _tag: "UnexpectedAnswer",
        carriedOut: isRead(name) ? "no" : "unknown",
        message: expect.stringContaining(
          `${name} was answered with success, but data.${field} ${id === "null" ? "is missing" : "cannot be read"}.`,
        ),
      });
    }
  });

  it.each(IDS)("of %s keeps every digit of a long number: %s", async (name, field) => {
    const { data } = answers[name].body as { readonly data: object };
    for (const id of ["12345678901234567890", "9007199254740993", "1234567"]) {
      const { result } = await exchange(name, requests[name], answerWith(data, field, id));
      expect(Object.values(result as object)).toContain(id);
    }
  });

  it.each([
    ["createPayout", { id: "p-1" }, { payout_id: "p-1" }],
    ["createCard", { card_id: "c-1" }, { card_id: "c-1" }],
    ["withdrawFromCard", { card_id: "c-1" }, { card_id: "c-1" }],
    ["createBeneficiary", { beneficiary_id: "b-1" }, { beneficiary_id: "b-1" }],
    ["createCardholder", { card_holder_id: "h-1" }, { card_holder_id: "h-1" }],
  ] as const)(
    "is all that the answer of %s needs: odd fields are absent",
    async (name, id, read) => {
      expect((await exchange(name, requests[name], success(id))).result).toStrictEqual(read);
      const fields =
        "status amount currency unique_request_id create_time payment_date card_status card_number " +
        "beneficiary_status account_number beneficiary_bank_details beneficiary_address fee";
      for (const odd of [null, true, [], ["1.00"], name === "createBeneficiary" ? 7 : {}]) {
        const data = Object.fromEntries(fields.split(" ").map((field) => [field, odd]));
        const { result } = await exchange(name, requests[name], success({ ...data, ...id }));
        expect(Object.values(result as object).filter((value) => value !== "7")).toStrictEqual(
          Object.values(read),
        );
      }
    },
  );
});

describe("an amount that is a number", () => {
  it.each([
    ["100.5", "100.5"],
    ["12345678901234567.89", "12345678901234567.89"],
    ["1e-7", undefined],
    ["12345678901234567e3", undefined],
    ["1E400", undefined],
  ])("%s is read as %s", async (written, amount) => {
    const reply = answerWith({ payout_id: "p-1" }, "amount", written);
    const { result } = await exchange("retrievePayout", requests.retrievePayout, reply);
    expect((result as { readonly amount?: string }).amount).toBe(amount);
  });
});

describe("an optional value", () => {
  it.each([ZERO_TIME, `0001-01-01T00:00:00+00:00`, "", null, undefined])(
    "is absent as a time if it is %s",
    async (time) => {
      const data = { payout_id: "p-1", complete_time: time, update_time: "2026-11-22T10:00:01Z" };
      const { result } = await exchange("retrievePayout", requests.retrievePayout, success(data));
      expect(result).toStrictEqual({ payout_id: "p-1", update_time: "2026-11-22T10:00:01Z" });
    },
  );

  it("is kept as it is, with characters that no request may have", async () => {
    const data = { payout_id: "p-1", payout_status: "new one", payout_reference: "Inv\u001b[2K\n" };
    const { result } = await exchange("retrievePayout", requests.retrievePayout, success(data));
    expect(result).toStrictEqual(data);
  });

  it.each([
    ["as texts", (details: object) => JSON.stringify(details)],
    ["as objects", (details: object) => details],
  ])("of a beneficiary's details is read, %s", async (_, write) => {
    const { result } = await exchange(
      "createBeneficiary",
      requests.createBeneficiary,
      success({
        beneficiary_id: "b-1",
        beneficiary_bank_details: write({ bank_name: { x: 1 }, iban: "", swift_code: "ABCDUS33" }),
        beneficiary_address: write({ city: 7, state: ["TX"] }),
      }),
    );
    expect(result).toStrictEqual({
      beneficiary_id: "b-1",
      beneficiary_bank_details: { swift_code: "ABCDUS33" },
      beneficiary_address: { city: "7" },
    });
  });
});

describe("a list", () => {
  const LISTS = [
    ["listPayouts", "payout_id"],
    ["listCardholders", "card_holder_id"],
    ["listTransactions", "transaction_id"],
  ] as const;

  it.each(LISTS)("%s: a row needs its id alone, and an odd one fails alone", async (name, id) => {
    const odd = { [id]: "", amount: "5.00", first_name: { is: "Ada" } };
    const item_list = [{ [id]: "x-1" }, odd, null, "row", [1], { [id]: "x-2", amount: {} }, {}];
    const page = success({ total_item: 7, total_page: 1, item_list });
    expect((await exchange(name, requests[name], page)).result).toStrictEqual({
      total_item: 7,
      total_page: 1,
      item_list: [{ [id]: "x-1" }, { [id]: "x-2" }],
      unreadable: [
        { reason: `${id} cannot be read`, fields: odd },
        { reason: "is not an object", fields: {} },
        { reason: "is not an object", fields: {} },
        { reason: "is not an object", fields: {} },
        { reason: `${id} is missing`, fields: {} },
      ],
    });
  });

  it.each<[string, object]>([
    ["missing", {}],
    ["null", { total_item: null, total_page: null, item_list: null }],
    ["texts", { total_item: "1", total_page: "1", item_list: [] }],
    ["negative or broken", { total_item: -1, total_page: 1.5, item_list: [] }],
  ])("has no totals and no items if they are %s", async (_, data) => {
    const { result } = await exchange("listPayouts", requests.listPayouts, success(data));
    expect(result).toStrictEqual({ item_list: [], unreadable: [] });
  });

  const payer = { payer_id: "y-1", entity_type: "individual" };
  it.each<[string, unknown, ReadonlyArray<unknown>]>([
    ["a plain array", [payer], [payer]],
    ["an envelope with one payer", [{ code: 200, data: payer }], [payer]],
    ["both, mixed", [{ code: 200, data: [payer] }, payer], [payer, payer]],
    ["a payer with a field called data", [{ ...payer, data: "x" }], [payer]],
    ["payers without an id", [{ company_name: "X" }, null, { data: [{}, payer] }], [payer]],
    ["an envelope with null", [{ code: 200, message: "Success", data: null }], []],
    ["null", null, []],
  ])("of payers is read from %s", async (_, data, payers) => {
    const reply = { body: { code: 200, message: "Success", data } };
    expect((await exchange("listPayers", undefined, reply)).result).toStrictEqual(payers);
  });
});

describe("a token", () => {
  const at = Date.parse("2026-11-21T03:00:00Z");

  it.each<[string, object, number | undefined]>([
    ["expired_at in seconds", { expired_at: at / 1000 }, at],
    ["expires_at in milliseconds", { expires_at: at }, at],
    ["an ISO time with an offset", { expired_at: "2026-11-21T11:00:00+08:00" }, at],
    ["an ISO time without offset, as UTC", { expired_at: "2026-11-21T03:00:00" }, at],
    ["seconds as text", { expired_at: String(at / 1000) }, at],
    ["expires_at before expired_at", { expires_at: at, expired_at: 1 }, at],
    ["expired_at if expires_at is null", { expires_at: null, expired_at: at }, at],
    ["no expiry", {}, undefined],
    ["something else", { expired_at: "in a while", expires_at: [true] }, undefined],
  ])("expires as the answer says: %s", (_, expiry, expires_at) => {
    expect(Schema.decodeUnknownSync(Token)({ auth_token: "t", ...expiry })).toStrictEqual(
      expires_at === undefined ? { auth_token: "t" } : { auth_token: "t", expires_at },
    );
  });

  it.each([[""], ["two words"], ["line\nbreak"], ["schlüssel"], [7], [null]])(
    "is one that a header can carry, not %j",
    (auth_token) => {
      expect(Schema.decodeUnknownOption(Token)({ auth_token })._tag).toBe("None");
    },
  );
});

describe("what the service says", () => {
  it.each([
    ["JSON", 422, '{"error":"amount is too low"}', '{"error":"amount is too low"}'],
    ["a text", 400, "beneficiary  unknown\n", "beneficiary unknown"],
    ["an account number", 400, "account 000123456789 closed", "account …6789 closed"],
    [
      "a page of HTML",
      413,
      "<html><style>b{x:1}</style><script>let a = 1</script><h1>Too <b>large</b></h1></html>",
      "Too large",
    ],
    ["a long text", 400, "word ".repeat(2000), "word ".repeat(100)],
  ])("is the error's reason, never its message: %s", async (_, status, body, reason) => {
    const { error } = await failedExchange("retrievePayout", requests.retrievePayout, {
      status,
      body,
    });
    expect(error).toMatchObject({
      _tag: "Unavailable",
      status,
      reason,
      message: `retrievePayout was answered with HTTP ${status} and no envelope. Check PAYMENTS_BASE_URL (baseUrl) and the network.`,
    });
  });

  it("keeps ids, dates and amounts readable", async () => {
    const said = `Payout 0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d of 1234567.50, P261121-AB12CD34, 2026-01-01`;
    const { error } = await failedExchange("freezeCard", requests.freezeCard, refusal(said));
    expect(error).toMatchObject({ _tag: "RequestRefused", reason: said });
  });

  it("is kept whole for a caller who asks for it", async () => {
    const body = { code: 200, message: "queued", data: { id: "PO20261121000123" } };
    const { error } = await failedExchange("createPayout", requests.createPayout, { body });
    expect(error._tag === "UnexpectedAnswer" && error.answer?.()).toBe(JSON.stringify(body));
    expect(JSON.stringify(error)).not.toContain("PO2026");
  });
});

describe("a sign-in", () => {
  const signInFailure = async (reply: Reply) => {
    await using server = await startServer(
      () => answers.ping,
      () => reply,
    );
    await using client = clientFor(server.url, { maxAttempts: 1 });
    return await failureOf(client.ping());
  };

  it("that is turned away by HTML with 403 leaves open who refused it", async () => {
    const error = await signInFailure({ status: 403, body: "<h1>Forbidden</h1>" });
    expect(error).toMatchObject({ _tag: "NotAuthenticated", carriedOut: "no" });
    expect(error.message).toContain("a filter or gateway in front of the service");
  });

  it.each([[{ code: 400, message: "no" }], [{ code: 401, message: "no" }]])(
    "that is refused names the settings to check: %o",
    async (body) => {
      const error = await signInFailure({ body });
      expect(error).toMatchObject({ _tag: "NotAuthenticated", carriedOut: "no" });
      expect(error.message).toContain(
        "Check PAYMENTS_CLIENT_ID (clientId) and PAYMENTS_API_KEY (apiKey).",
      );
    },
  );
});
