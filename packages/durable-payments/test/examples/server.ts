import {
  ConnectionFailed,
  ControlError,
  InvalidInput,
  NotFound,
  type OpenPaymentsSettings,
  openPayments,
  type Payments,
} from "durable-payments/start";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { json } from "node:stream/consumers";

type Body = Parameters<Payments["pay"]>[0] & { readonly key: string; readonly hash: string };

/** Ask your single sign-on here: nothing else tells the second person from the first. */
const personOf = ({ headers }: IncomingMessage) => ({
  by: String(headers["x-user"] ?? ""),
  how: "single sign-on",
});
const answer = async (payments: Payments, request: IncomingMessage): Promise<unknown> => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const [, resource = "", id = ""] = pathname.split("/").map(decodeURIComponent);
  // The methods check what is in it.
  const body = async () => (await json(request)) as Body;
  switch (`${request.method} /${resource}${id && "/ID"}`) {
    case "POST /payouts": {
      const { hash: _, key, ...input } = await body();
      return payments.pay(input, { key, ...personOf(request) });
    }
    case "GET /payouts":
      return payments.list({ payee: searchParams.get("payee") ?? undefined });
    case "GET /payouts/ID":
      return payments.show(id);
    case "GET /inbox":
      return payments.inbox();
    case "POST /approvals/ID":
      return payments.approve(id, { hash: (await body()).hash, ...personOf(request) });
    default:
      throw new NotFound({ message: `There is no ${request.method} ${pathname}.` });
  }
};
const failureOf = (error: unknown): readonly [status: number, body: object] => {
  if (!(error instanceof ControlError)) return [500, { name: "Unexpected" }];
  const body = { name: error.name, message: error.message, next: error.next };
  if (error instanceof InvalidInput) return [400, { ...body, faults: error.faults }];
  if (error instanceof NotFound) return [404, body];
  return [error instanceof ConnectionFailed ? 503 : 409, body];
};

/** Serves payments over HTTP until it is closed. */
export const servePayments = async (settings?: OpenPaymentsSettings): Promise<Server> => {
  const payments = await openPayments(settings);
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(payments, request).then((value) => [200, value], failureOf);
    response.writeHead(Number(status), { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });
  return server.on("close", () => void payments[Symbol.asyncDispose]());
};
