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

type Input = Parameters<Payments["pay"]>[0];

/** Ask your single sign-on here: nothing else tells the second person from the first. */
const personOf = ({ headers }: IncomingMessage) => ({
  by: String(headers["x-user"] ?? ""),
  how: "single sign-on",
});
const invalid = (message: string) => new InvalidInput({ message });
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const bodyOf = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const body: unknown = await json(request).catch(() => undefined);
  if (typeof body === "object" && body !== null) return { ...body };
  throw invalid("The body must be a JSON object. Nothing was done.");
};
/** The id is the rest of the path, with or without an encoded slash. */
const pathOf = ({ pathname }: URL) => {
  try {
    const [, resource = "", ...rest] = pathname.split("/").map(decodeURIComponent);
    return { resource, id: rest.join("/") };
  } catch {
    throw invalid("The path has an invalid % code. Nothing was done.");
  }
};
const answer = async (payments: Payments, request: IncomingMessage): Promise<unknown> => {
  const url = new URL(request.url ?? "", "http://localhost");
  const { id, resource } = pathOf(url);
  switch (`${request.method} /${resource}${id && "/ID"}`) {
    case "POST /payouts": {
      const { key, ...input } = await bodyOf(request);
      // `pay` checks the input, and names each fault.
      return payments.pay(input as unknown as Input, { key: textOf(key), ...personOf(request) });
    }
    case "GET /payouts":
      return payments.list({ payee: url.searchParams.get("payee") ?? undefined });
    case "GET /payouts/ID":
      return payments.show(id);
    case "GET /inbox":
      return payments.inbox();
    case "POST /approvals/ID": {
      // Without the hash of what the person has read, nothing is approved.
      const { hash } = await bodyOf(request);
      await payments.approve(id, { hash: textOf(hash), ...personOf(request) });
      return { approved: id };
    }
    default:
      throw new NotFound({ message: `There is no ${request.method} ${url.pathname}.` });
  }
};
const failureOf = (error: unknown): readonly [status: number, body: object] => {
  if (!(error instanceof ControlError)) {
    console.error(error);
    return [500, { name: "Unexpected", message: "The log of the server has the reason." }];
  }
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
    response.end(JSON.stringify(body));
  });
  return server.on("close", () => void payments[Symbol.asyncDispose]());
};
