import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type Body, IndependentLedger, Refusal } from "./ledger.ts";
import { type AnswerOptions, operationsOf } from "./operations.ts";

/** How a write is answered: `before`: hung up and not carried out; `after`: carried out, then hung up. */
export type LostAnswer = "before" | "after";

/** How the service behaves beyond its document. */
export interface IndependentServiceOptions extends AnswerOptions {
  /** Decides for each write whether its answer is lost; `number` counts the operation's from 1. */
  readonly lose?: (operation: string, number: number) => LostAnswer | undefined;
  /** The initial balances, decimal text by currency. Default 100000.0000 USD and EUR. */
  readonly balances?: Readonly<Record<string, string>>;
  /** How long an identity check takes, in milliseconds. Default 500. */
  readonly verifyAfterMs?: number;
}

/** A service that runs in this process. */
export interface IndependentService {
  readonly url: string;
  readonly clientId: string;
  readonly apiKey: string;
  /** The true records, even if the service shows others. */
  readonly ledger: IndependentLedger;
  /** Requests by operation, those that were lost too. */
  readonly requests: ReadonlyMap<string, number>;
  readonly stop: () => Promise<void>;
}

const CLIENT_ID = "client-of-independent";
const API_KEY = "key-of-independent";
const TOKEN_SECONDS = 1800;

const readBody = async (request: IncomingMessage): Promise<Body> => {
  const body = await text(request);
  // Each operation checks the fields that it reads.
  return body === "" ? {} : (JSON.parse(body) as Body);
};

/**
 * Starts the payment service as its document describes it, on a free port of 127.0.0.1. It shares
 * no code with the client or the simulator, and makes its own choices if the document is
 * silent: ids are numbers, amounts have four digits, times stand in +08:00, lists begin with the
 * oldest row and know no filters, the key of a payout is neither kept nor shown, a refusal comes
 * under HTTP 200, a repeated key of a card is answered without data.
 *
 * @returns the service, with its ledger and a function that stops it
 */
export const startIndependentService = async (
  options: IndependentServiceOptions = {},
): Promise<IndependentService> => {
  const { balances = { USD: "100000", EUR: "100000" }, verifyAfterMs = 500 } = options;
  const ledger = new IndependentLedger(verifyAfterMs, balances);
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

  /** The JSON of the answer, or undefined if it is lost. */
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
    const lost = operation.method === "POST" ? options.lose?.(operation.name, number) : undefined;
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
