import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import {
  type Body,
  type IndependentCardholder,
  IndependentLedger,
  type IndependentPayout,
  Refusal,
} from "./ledger.ts";

/** How a write is answered: `before`: hung up and not carried out; `after`: carried out, then hung up. */
export type LostAnswer = "before" | "after";

/** How the service behaves beyond its document. */
export interface IndependentServiceOptions {
  /** Decides for each write whether its answer is lost; `number` counts the operation's from 1. */
  readonly lose?: (operation: string, number: number) => LostAnswer | undefined;
  /** How far its clock is ahead, in milliseconds; below zero: behind. Default 0. */
  readonly clockOffsetMs?: number;
  /** For how long lists do not show a new row, in milliseconds. Default 0. */
  readonly listLagMs?: number;
  /** Times in lists in full, or the days alone. Default `full`. */
  readonly listTimes?: "full" | "day";
  /** Texts in lists as they were given, or in capitals. Default `given`. */
  readonly listTexts?: "given" | "capitals";
  /** How long a payout is processing, in milliseconds. Default 500. */
  readonly settleAfterMs?: number;
  /** How long an identity check takes, in milliseconds. Default 500. */
  readonly verifyAfterMs?: number;
}

/** A service that runs in this process. */
export interface IndependentService {
  readonly url: string;
  readonly clientId: string;
  readonly apiKey: string;
  /** What is true, whatever the service shows. */
  readonly ledger: IndependentLedger;
  /** Requests by operation, those that were lost too. */
  readonly requests: ReadonlyMap<string, number>;
  readonly stop: () => Promise<void>;
}

const CLIENT_ID = "client-of-independent";
const API_KEY = "key-of-independent";
const TOKEN_SECONDS = 1800;
const HOURS_EAST = 8;

interface Call {
  readonly parts: ReadonlyArray<string>;
  readonly query: URLSearchParams;
  readonly body: Body;
}

interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly isWrite: boolean;
  readonly run: (call: Call) => unknown;
}

const readBody = async (request: IncomingMessage): Promise<Body> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  const text = Buffer.concat(chunks).toString();
  // Each operation checks the fields that it reads.
  return text === "" ? {} : (JSON.parse(text) as Body);
};

const money = (amount: bigint): string => {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
};

const describe = (beneficiaryId: string, given: Body) => ({
  beneficiary_id: beneficiaryId,
  entity_type: given["entity_type"],
  payment_method: given["payment_method"],
  beneficiary_email: given["email"],
  beneficiary_nickname: given["nickname"],
  beneficiary_company_name: given["company_name"] ?? "",
  beneficiary_first_name: given["first_name"] ?? "",
  beneficiary_last_name: given["last_name"] ?? "",
  account_currency_code: given["account_currency"],
  bank_country_code: given["bank_country"],
});

const bankOf = (given: Body) => ({
  bank_name: given["bank_name"],
  bank_address: given["bank_address"],
  bank_country_code: given["bank_country"],
  account_holder: given["account_holder"],
  account_currency_code: given["account_currency"],
  account_number: given["account_number"] ?? "",
  iban: given["iban"] ?? "",
});

const addressOf = (given: Body) => ({
  country_code: given["country_code"],
  city: given["city"],
  street_address: given["address"],
  postal_code: given["postal_code"],
  state: given["state"],
});

/** The operations of the document, with its own choices where the document leaves them open. */
const operationsOf = (
  ledger: IndependentLedger,
  {
    clockOffsetMs = 0,
    listLagMs = 0,
    listTexts = "given",
    listTimes = "full",
    settleAfterMs = 500,
  }: IndependentServiceOptions,
): ReadonlyArray<Operation> => {
  const time = (at: number): string => {
    const local = new Date(at + clockOffsetMs + HOURS_EAST * 3_600_000).toISOString();
    return `${local.slice(0, 19)}+08:00`;
  };
  const listTime = (at: number) => (listTimes === "day" ? time(at).slice(0, 10) : time(at));
  const listText = (given: unknown) =>
    listTexts === "capitals" && typeof given === "string" ? given.toUpperCase() : (given ?? "");
  // Oldest first; filters have names that no caller can know, and are not there.
  const page = <Row extends { readonly at: number }>(
    rows: ReadonlyArray<Row>,
    query: URLSearchParams,
    view: (row: Row) => unknown,
  ) => {
    const number = Number(query.get("page_num"));
    const size = Number(query.get("page_size"));
    if (!(number >= 1) || !(size >= 1 && size <= 50)) throw new Refusal("which page?");
    const shown = rows.filter(({ at }) => Date.now() - at >= listLagMs);
    return {
      total_item: shown.length,
      total_page: Math.ceil(shown.length / size),
      item_list: shown.slice((number - 1) * size, number * size).map(view),
    };
  };
  const payoutRead = ({ amount, asked, at, id }: IndependentPayout, write: typeof time) => {
    const completeAt = at + settleAfterMs;
    const isComplete = Date.now() >= completeAt;
    return {
      payout_id: id,
      payout_status: isComplete ? "funds_arrived" : "processing",
      payout_reason: asked["payout_reason"],
      payout_reference: asked["payout_reference"] ?? "",
      beneficiary_id: asked["beneficiary_id"],
      amount: money(amount),
      fee_amount: "0.0000",
      currency: asked["currency"],
      fee_paid_by: "shared",
      create_time: write(at),
      update_time: write(isComplete ? completeAt : at),
      complete_time: isComplete ? write(completeAt) : "0001-01-01T00:00:00Z",
    };
  };
  const holderView = (holder: IndependentCardholder) => ({
    card_holder_id: holder.id,
    card_holder_status: ledger.isVerified(holder) ? "SUCCESS" : "PENDING",
    card_num: ledger.cards.filter(({ asked }) => asked["card_holder_id"] === String(holder.id))
      .length,
    first_name: listText(holder.asked["first_name"]),
    last_name: listText(holder.asked["last_name"]),
    create_time: listTime(holder.at),
    update_time: listTime(holder.at),
  });
  const read = (name: string, path: RegExp, run: Operation["run"]): Operation => ({
    name,
    path,
    run,
    method: "GET",
    isWrite: false,
  });
  const write = (name: string, path: RegExp, run: Operation["run"]): Operation => ({
    name,
    path,
    run,
    method: "POST",
    isWrite: true,
  });

  return [
    write("createBeneficiary", /^beneficiaries\/create$/, ({ body }) => {
      const id = ledger.addBeneficiary(body);
      return {
        ...describe(id, body),
        beneficiary_status: "pending",
        account_number: body["account_number"] ?? "",
        beneficiary_bank_details: JSON.stringify(bankOf(body)),
        beneficiary_address: JSON.stringify(addressOf(body)),
      };
    }),
    read("retrieveBeneficiary", /^beneficiaries\/([^/]+)$/, ({ parts: [id = ""] }) => {
      const given = ledger.beneficiary(id);
      return {
        ...describe(id, given),
        beneficiary_summary: "An account",
        beneficiary_bank_details: bankOf(given),
        beneficiary_address: addressOf(given),
      };
    }),
    write("createPayout", /^payouts\/create$/, ({ body }) => {
      const { amount, at, id } = ledger.addPayout(body);
      return {
        id,
        amount: money(amount),
        currency: body["currency"],
        beneficiary_id: body["beneficiary_id"],
        payment_date: time(Date.parse(String(body["payment_date"]))),
        reason: body["payout_reason"],
        reference: body["payout_reference"] ?? "",
        status: "processing",
        create_time: time(at),
        update_time: time(at),
      };
    }),
    read("listPayouts", /^payouts$/, ({ query }) =>
      page(ledger.payouts, query, (payout) => ({
        ...payoutRead(payout, listTime),
        payout_reason: listText(payout.asked["payout_reason"]),
        payout_reference: listText(payout.asked["payout_reference"]),
        payment_date: payout.asked["payment_date"],
      })),
    ),
    read("retrievePayout", /^payouts\/([^/]+)\/retrieve$/, ({ parts: [id] }) => {
      const found = ledger.payouts.find((payout) => String(payout.id) === id);
      if (found === undefined) throw new Refusal("no such payout");
      return { ...payoutRead(found, time), payout_date: found.asked["payment_date"] };
    }),
    read("listPayers", /^payers$/, () => []),
    write("createBalance", /^balances\/create$/, ({ body }) => ledger.openBalance(body)),
    read("retrieveBalance", /^balances\/retrieve\/([A-Z]{3})$/, ({ parts: [currency = ""] }) => {
      const { amount, id } = ledger.balanceOf(currency);
      return { balance_id: id, currency, available_balance: money(amount) };
    }),
    write("createCardholder", /^cardholders\/create$/, ({ body }) => ({
      card_holder_id: ledger.addCardholder(body),
    })),
    read("listCardholders", /^cardholders$/, ({ query }) =>
      page(
        ledger.cardholders.filter(({ isRemoved }) => !isRemoved),
        query,
        holderView,
      ),
    ),
    write("removeCardholder", /^cardholders\/([^/]+)\/remove$/, ({ parts: [id = ""] }) =>
      ledger.removeCardholder(id),
    ),
    write("createCard", /^cards\/create$/, ({ body }) => {
      const card = ledger.addCard(body);
      return (
        card && {
          card_id: card.id,
          card_status: card.status,
          unique_request_id: body["unique_request_id"],
        }
      );
    }),
    write("withdrawFromCard", /^cards\/withdraw$/, ({ body }) =>
      ledger.withdraw(body) ? body : undefined,
    ),
    write("updateCard", /^cards\/update$/, ({ body }) => ledger.changeCard(body, {})),
    write("cancelCard", /^cards\/cancel$/, ({ body }) =>
      ledger.changeCard(body, { status: "cancelled" }),
    ),
    write("freezeCard", /^cards\/freeze$/, ({ body }) =>
      ledger.changeCard(body, { status: "frozen" }),
    ),
  ];
};

/**
 * Starts the payment service as its document describes it, on a free port of 127.0.0.1. It shares
 * no code with the client or the simulator, and chooses for itself where the document is
 * silent: ids are numbers, amounts have four digits, times stand in +08:00, lists begin with the
 * oldest row and know no filters, the key of a payout is neither kept nor shown, a refusal comes
 * under HTTP 200, a repeated key of a card is answered without data.
 *
 * @returns the service, with its ledger and what stops it
 */
export const startIndependentService = async (
  options: IndependentServiceOptions = {},
): Promise<IndependentService> => {
  const ledger = new IndependentLedger(options.verifyAfterMs ?? 500);
  const operations = operationsOf(ledger, options);
  const requests = new Map<string, number>();
  const tokens = new Map<string, number>();
  const countOf = (name: string): number => {
    const count = (requests.get(name) ?? 0) + 1;
    requests.set(name, count);
    return count;
  };

  const signIn = ({ headers }: IncomingMessage) => {
    countOf("signIn");
    if (headers["x-client-id"] !== CLIENT_ID || headers["x-api-key"] !== API_KEY) {
      throw new Refusal("who are you?");
    }
    const token = randomBytes(20).toString("hex");
    const end = Math.floor(Date.now() / 1000) + TOKEN_SECONDS;
    tokens.set(token, end);
    return { auth_token: token, expires_at: end + Math.floor((options.clockOffsetMs ?? 0) / 1000) };
  };

  /** The JSON of the answer, or undefined where it is lost. */
  const answerTo = async (
    request: IncomingMessage,
  ): Promise<{ readonly status: number; readonly json: unknown } | undefined> => {
    const url = new URL(request.url ?? "/", "http://service");
    const path = url.pathname.replace(/^\/api\/v1\//, "");
    if (path === "auth/signin" && request.method === "POST") {
      return { status: 200, json: { code: 200, message: "Success", data: signIn(request) } };
    }
    const body = await readBody(request);
    const token = String(request.headers["x-auth-token"]).replace(/^Bearer /, "");
    if ((tokens.get(token) ?? 0) * 1000 < Date.now()) {
      return { status: 401, json: { code: 400, message: "Token is not valid" } };
    }
    if (path === "ping") return { status: 200, json: { message: "pong" } };
    const operation = operations.find(
      (each) => each.method === request.method && each.path.test(path),
    );
    if (operation === undefined)
      return { status: 404, json: { code: 400, message: "no such path" } };
    const number = countOf(operation.name);
    const lost = operation.isWrite ? options.lose?.(operation.name, number) : undefined;
    if (lost === "before") return undefined;
    const parts = (operation.path.exec(path) ?? []).slice(1).map(decodeURIComponent);
    const data = operation.run({ parts, query: url.searchParams, body });
    if (lost === "after") return undefined;
    return {
      status: 200,
      json: { code: 200, message: "Success", ...(data === undefined ? {} : { data }) },
    };
  };

  const server = createServer((request, response) => {
    void answerTo(request)
      .catch((cause: unknown) =>
        cause instanceof Refusal
          ? { status: 200, json: { code: 400, message: cause.message } }
          : { status: 500, json: { code: 400, message: String(cause) } },
      )
      .then((answer) => {
        if (answer === undefined) return request.socket.destroy();
        response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8" });
        return response.end(JSON.stringify(answer.json));
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It listens on no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    clientId: CLIENT_ID,
    apiKey: API_KEY,
    ledger,
    requests,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
