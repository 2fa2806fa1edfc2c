import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import {
  type AnswerOptions,
  type Body,
  emptyLedger,
  operationsOf,
  Refusal,
} from "./independent-operations.ts";

/** How a write is answered: `before`: hung up and not carried out; `after`: carried out, then hung up. */
type LostAnswer = "before" | "after";

/** How the service behaves beyond its document. */
export interface IndependentServiceOptions extends AnswerOptions {
  readonly clientId?: string;
  /** Decides for each write, such as `POST payouts/create`, whether its answer is lost. */
  readonly lose?: (write: string) => LostAnswer | undefined;
  /** Decides for each write whether it is rejected, until a second later by the service's clock. */
  readonly isBusy?: (write: string) => boolean;
  /** The clock of the header `Date`: the service's own, that of a proxy, which is right, or none. Default `own`. */
  readonly date?: "own" | "proxy" | "none";
  /** How long a token lasts, in seconds. Default 1800. */
  readonly tokenSeconds?: number;
}

/**
 * Starts the payment service as its document describes it, on a free port of 127.0.0.1. It shares
 * no code with the client or the simulator. It makes its own choices if the document is silent:
 *
 * - Ids are numbers, amounts have four digits, and times are in +08:00.
 * - Lists begin with the oldest row and know no filters.
 * - The key of a payout is not used; a repeated key of a card is answered without data.
 * - A refusal comes under HTTP 200.
 *
 * @returns the service, with its ledger and a function that stops it
 */
export const startIndependentService = async (options: IndependentServiceOptions = {}) => {
  const ledger = emptyLedger();
  const { clientId = "client-of-independent" } = options;
  const apiKey = `key-of-${clientId}`;
  const operations = operationsOf(ledger, options);
  const { clockOffsetMs = 0, date = "own", tokenSeconds = 1800 } = options;
  const timeIn = (seconds: number) =>
    new Date(Date.now() + clockOffsetMs + seconds * 1000).toUTCString();
  const tokens = new Map<string, number>();

  const signIn = ({ headers }: IncomingMessage) => {
    if (headers["x-client-id"] !== clientId || headers["x-api-key"] !== apiKey) {
      throw new Refusal("who are you?");
    }
    const token = randomBytes(20).toString("hex");
    const end = Math.floor(Date.now() / 1000) + tokenSeconds;
    tokens.set(token, end);
    return { auth_token: token, expires_at: end + Math.floor(clockOffsetMs / 1000) };
  };
  const success = (data: unknown) => [200, { code: 200, message: "Success", data }] as const;

  /** The status and the JSON of the answer, or undefined if it is lost. */
  const answerTo = async (
    request: IncomingMessage,
  ): Promise<readonly [status: number, json: object] | undefined> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
    const call = `${request.method} ${pathname.replace(/^\/api\/v1\//, "")}`;
    if (call === "POST auth/signin") return success(signIn(request));
    const body = await text(request);
    const token = String(request.headers["x-auth-token"]).replace(/^Bearer /, "");
    if ((tokens.get(token) ?? 0) * 1000 < Date.now()) {
      return [401, { code: 400, message: "Token is not valid" }];
    }
    for (const [pattern, run] of Object.entries(operations)) {
      const match = new RegExp(`^${pattern}$`).exec(call);
      if (match === null) continue;
      if (request.method === "POST" && options.isBusy?.(pattern) === true) {
        return [429, { code: 400, message: "later" }];
      }
      const lost = request.method === "POST" ? options.lose?.(pattern) : undefined;
      if (lost === "before") return undefined;
      // Each operation checks the fields that it reads.
      const fields = body === "" ? {} : (JSON.parse(body) as Body);
      const data = run(fields, decodeURIComponent(match[1] ?? ""), searchParams);
      return lost === "after" ? undefined : success(data);
    }
    return [404, { code: 400, message: "no such path" }];
  };

  const server = createServer((request, response) => {
    void answerTo(request)
      .catch((cause: unknown) => {
        const isRefusal = cause instanceof Refusal;
        const message = isRefusal ? cause.message : String(cause);
        return [isRefusal ? 200 : 500, { code: 400, message }] as const;
      })
      .then((answer) => {
        if (answer === undefined) return request.socket.destroy();
        response.sendDate = date === "proxy";
        response.writeHead(answer[0], {
          "content-type": "application/json; charset=utf-8",
          ...(date === "own" && { date: timeIn(0) }),
          ...(answer[0] === 429 && { "retry-after": timeIn(1) }),
        });
        return response.end(JSON.stringify(answer[1]));
      });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It listens on no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    clientId,
    apiKey,
    /** The true records, even if the service shows others. */
    ledger,
    stop: async () => {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
};
