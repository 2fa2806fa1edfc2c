import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of a request beside its answer. */
type Fault =
  | "carried out"
  /** It is carried out, and the connection breaks before the answer. */
  | "answer lost"
  /** The connection breaks before it is carried out. */
  | "request lost"
  | { readonly status: number; readonly text: string };

interface Item {
  readonly id: string;
  readonly at: number;
  readonly key: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A ledger that knows keys again, and a mailer that knows none. */
export interface LedgerService {
  readonly url: string;
  /** What stands: all that was made and not removed. */
  readonly made: (kind: "entries" | "receipts") => ReadonlyArray<Item>;
  /** How many requests to make something came. */
  readonly posts: (kind: "entries" | "receipts") => number;
  /** What becomes of the next request of the kind. */
  readonly next: (kind: "entries" | "receipts", fault: Fault) => void;
  /** Called when a request to make something has come and before it is answered. */
  onPost: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<Item["body"]> => {
  const chunks = await request.toArray();
  return JSON.parse(Buffer.concat(chunks as Array<Buffer>).toString()) as Item["body"];
};

export const startLedgerService = async (): Promise<LedgerService> => {
  const all: Record<string, Array<Item>> = { entries: [], receipts: [] };
  const posts: Record<string, number> = { entries: 0, receipts: 0 };
  const faults: Record<string, Array<Fault>> = { entries: [], receipts: [] };
  let number = 0;
  const service = { onPost: async () => undefined } as { onPost: () => Promise<void> };
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "", "http://localhost");
      const [, kind = "", id] = url.pathname.split("/");
      const items = all[kind] ?? [];
      const shown = ({ id, body }: Item) => ({ ...body, id });
      const answer = (status: number, json: unknown) =>
        response.writeHead(status).end(typeof json === "string" ? json : JSON.stringify(json));
      if (request.method === "GET") {
        if (id === undefined) return answer(200, items.map(shown));
        const item = items.find((each) => each.id === id);
        return item === undefined ? answer(404, {}) : answer(200, shown(item));
      }
      if (request.method === "DELETE") {
        all[kind] = items.filter((each) => each.id !== id);
        return answer(200, {});
      }
      const body = await bodyOf(request);
      posts[kind] = (posts[kind] ?? 0) + 1;
      const fault = faults[kind]?.shift();
      if (fault === "request lost") return response.destroy();
      if (typeof fault === "object") return answer(fault.status, fault.text);
      const key = kind === "entries" ? String(request.headers["idempotency-key"]) : undefined;
      const known = key === undefined ? undefined : items.find((each) => each.key === key);
      const item = known ?? { id: `${kind}-${(number += 1)}`, at: Date.now(), key, body };
      if (known === undefined) items.push(item);
      await service.onPost();
      if (fault === "answer lost") return response.destroy();
      return answer(200, shown(item));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made: (kind: "entries" | "receipts") => all[kind] ?? [],
    posts: (kind: "entries" | "receipts") => posts[kind] ?? 0,
    next: (kind: "entries" | "receipts", fault: Fault) => void faults[kind]?.push(fault),
    stop: async () => {
      server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  });
};
