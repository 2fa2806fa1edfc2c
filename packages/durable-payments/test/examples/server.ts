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

/** Ask your single sign-on here: whoever chooses the name decides who the second person is. */
const personOf = ({ headers }: IncomingMessage): { by: string; how: string } => ({
  by: String(headers["x-user"] ?? ""),
  how: "single sign-on",
});

const answer = async (payments: Payments, request: IncomingMessage): Promise<unknown> => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const [, resource = "", id = ""] = pathname.split("/").map(decodeURIComponent);
  switch (`${request.method} /${resource}${id && "/ID"}`) {
    case "POST /payouts": {
      const { hash: _, key, ...input } = (await json(request)) as Body;
      return payments.pay(input, { key, ...personOf(request) });
    }
    case "GET /payouts":
      return payments.list({ payee: searchParams.get("payee") ?? undefined });
    case "GET /payouts/ID":
      return payments.show(id);
    case "GET /inbox":
      return payments.inbox();
    case "POST /approvals/ID": {
      const { hash } = (await json(request)) as Body;
      return payments.approve(id, { hash, ...personOf(request) });
    }
    default:
      throw new NotFound({ message: `There is no ${request.method} ${pathname}.` });
  }
};

const statusOf = (error: unknown): number => {
  if (error instanceof InvalidInput || error instanceof SyntaxError) return 400;
  if (error instanceof NotFound) return 404;
  if (error instanceof ConnectionFailed) return 503;
  return error instanceof ControlError ? 409 : 500;
};

/** Serves payments over HTTP until it is closed. */
export const servePayments = async (settings?: OpenPaymentsSettings): Promise<Server> => {
  const payments = await openPayments(settings);
  const server = createServer(async (request, response) => {
    const found = await answer(payments, request).then(
      (value) => [200, value] as const,
      (error: Error) => [statusOf(error), { ...error, message: error.message }] as const,
    );
    response.writeHead(found[0], { "content-type": "application/json" });
    response.end(JSON.stringify(found[1]));
  });
  return server.on("close", () => void payments[Symbol.asyncDispose]());
};
