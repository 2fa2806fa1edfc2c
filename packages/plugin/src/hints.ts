/**
 * Receives hints of the service by HTTP, at an address of its own: it may be reached from outside, and the probes may not.
 *
 * Anyone who can reach it can send anything, so a request costs little before its signature is verified: its size is limited, as
 * are its time and the number of connections (`listen.ts`). With a valid signature, a hint costs one request to the service, so their
 * rate is limited, too. The answer to a verified hint never says whether the id is known.
 */
import { type HintSettings, readHint } from "@durable-payments/activities";
import type { Ledger } from "@durable-payments/ledger";
import type { IncomingMessage } from "node:http";
import type { Account } from "./accounts.ts";
import { type Listener, listen } from "./listen.ts";

const MOST_BYTES = 16_384;

/** Hints of a second that are taken; the tracker finds what the others mean by its own readings. */
const MOST_A_SECOND = 50;

/** Returns the body; undefined if it is too long. */
const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const parts: Array<Buffer> = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
};

/**
 * Listens for hints about the objects of some accounts.
 *
 * @throws CannotStart if another program listens there, or the address does not belong to this machine.
 */
export const listenForHints = async (
  settings: HintSettings,
  ledger: Pick<Ledger, "readSoon">,
  accounts: ReadonlyArray<Pick<Account, "hash">>,
): Promise<Listener> => {
  const hashes = accounts.map(({ hash }) => hash);
  let [second, taken] = [0, 0];
  const isTooMany = (): boolean => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) [second, taken] = [now, 0];
    taken += 1;
    return taken > MOST_A_SECOND;
  };
  const statusOf = async (request: IncomingMessage): Promise<number> => {
    if (request.method !== "POST") return 405;
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    // `verify` reads three headers, and refuses a list.
    const hint = readHint(settings, request.headers as Record<string, string>, body);
    if (hint === "forged") return 401;
    if (isTooMany()) return 429;
    if (hint !== "other") await ledger.readSoon(hashes, hint.id);
    return 204;
  };
  return listen(settings.address, "hints.address", (request, response) => {
    statusOf(request).then(
      (status) => {
        // The unread rest of a request must not be taken for the next request.
        if (status === 413) response.setHeader("connection", "close");
        response.writeHead(status).end();
      },
      // The service may send it again.
      () => response.writeHead(503).end(),
    );
  });
};
