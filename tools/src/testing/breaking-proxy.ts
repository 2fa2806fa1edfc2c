/**
 * A TCP proxy in front of a PostgreSQL server that is slow, breaks and goes silent when a test says so.
 *
 * A connection can break at any statement, and each moment means something else to the caller: before the server has
 * seen a COMMIT nothing is committed, after it was applied everything is, and the caller cannot tell one from the other.
 * `pg_terminate_backend` cannot choose the moment. The proxy can, because it reads the protocol: it knows the statement
 * of each message, also that of a prepared one, and it counts answers.
 *
 * It reads plain connections only: give the address `sslmode=disable`, the default on this host.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How a connection breaks: by RST, by FIN from the server's side alone, or in silence, with both sockets open. */
export type Break = "reset" | "halfClose" | "hang";

interface PlannedBreak {
  readonly statement: RegExp;
  readonly moment: "before" | "after";
  /** 1: the next statement that matches. */
  left: number;
  readonly act: (end: (how: Break) => void) => void;
}

/** Types of messages: the text of a query, a prepared statement, its values, and the two that ask for an answer or end it. */
const [QUERY, PARSE, BIND, SYNC, READY] = ["Q", "P", "B", "S", "Z"].map((type) =>
  type.charCodeAt(0),
);

/** Returns a function that splits a stream into whole messages; the first one of a client has no type. */
const splitter = (hasTypeAtFirst: boolean) => {
  let rest = Buffer.alloc(0);
  let from = hasTypeAtFirst ? 1 : 0;
  return (chunk: Buffer): ReadonlyArray<Buffer> => {
    rest = Buffer.concat([rest, chunk]);
    const whole: Array<Buffer> = [];
    while (rest.length >= from + 4 && rest.length >= from + rest.readInt32BE(from)) {
      const length = from + rest.readInt32BE(from);
      whole.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      from = 1;
    }
    return whole;
  };
};

/** Returns a function that acts after some time, and never before what it was given earlier. */
const inOrder = () => {
  let last = Promise.resolve();
  return (ms: number, act: () => void): void => {
    const due = performance.now() + ms;
    last = last.then(async () => {
      const left = due - performance.now();
      if (left > 0) await sleep(left);
      act();
    });
  };
};

/** A proxy of one server. Its settings concern all connections, present and future. */
export class BreakingProxy {
  /** Each answer of the server arrives this much later. */
  answerDelayMs = 0;
  /** Each commit reaches the server this much later, its locks held meanwhile, as on a slow disk. */
  commitDelayMs = 0;
  /** Each new connection is reset, as by a server that is down. */
  isRefusing = false;
  /** The port on this host to which new connections go: another one after a failover. */
  serverPort: number;
  readonly #listener = createServer({ allowHalfOpen: true }, (client) => this.#serve(client));
  readonly #open = new Set<(how: Break) => void>();
  readonly #planned: Array<PlannedBreak> = [];

  private constructor(serverPort: number) {
    this.serverPort = serverPort;
  }

  /** Starts a proxy of the PostgreSQL server on a port of this host. */
  static async start(serverPort: number): Promise<BreakingProxy> {
    const proxy = new BreakingProxy(serverPort);
    await once(proxy.#listener.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  /** Returns the address of a database by way of the proxy. */
  through(address: string): string {
    const [own, url] = [this.#listener.address(), new URL(address)];
    url.port = typeof own === "object" && own !== null ? String(own.port) : "";
    return url.href;
  }

  /** Breaks all open connections. */
  breakAll(how: Break = "reset"): void {
    for (const end of this.#open) end(how);
  }

  /**
   * Breaks the connection of the next statement that matches, or of the nth, once: before the server sees it, or after it has been carried
   * out and answered, with the answer lost. @returns a promise that is fulfilled when that has happened.
   */
  breakAt(
    statement: RegExp,
    moment: PlannedBreak["moment"],
    how: Break = "reset",
    nth = 1,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const act = (end: (how: Break) => void) => {
      end(how);
      resolve();
    };
    this.#planned.push({ statement, moment, act, left: nth });
    return promise;
  }

  async stop(): Promise<void> {
    const closed = once(this.#listener.close(), "close");
    this.breakAll();
    await closed;
  }

  #serve(client: Socket): void {
    if (this.isRefusing) return void client.resetAndDestroy();
    const server = connect(this.serverPort, "127.0.0.1");
    let isBroken = false;
    const end = (how: Break): void => {
      isBroken = true;
      if (how === "halfClose") client.end();
      if (how === "reset") for (const socket of [client, server]) socket.resetAndDestroy();
    };
    this.#open.add(end);
    client.on("close", () => void (this.#open.delete(end), server.destroy()));
    // If one side ends, so does the other, once it has everything that was sent before. Silence answers nothing.
    const [toServer, toClient] = [inOrder(), inOrder()];
    const [ofClient, ofServer] = [splitter(false), splitter(true)];
    server.on("close", () => toClient(0, () => void (isBroken || client.destroy())));
    client.on("end", () => toServer(0, () => void (isBroken || server.end())));
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => undefined);

    // Each simple query and each Sync has one answer, which ends with ReadyForQuery. So has the start.
    let [questions, answers, isInTransaction] = [1, 0, false];
    const lost = new Map<number, () => void>();
    const prepared = new Map<string, string>();
    const ask = (message: Buffer): void => {
      const [type] = message;
      const [first = "", second = ""] = message.toString("utf8", 5).split("\0");
      if (type === PARSE) prepared.set(first, second);
      const statement = type === QUERY ? first : type === BIND ? (prepared.get(second) ?? "") : "";
      if (/^BEGIN\b/.test(statement)) isInTransaction = true;
      const isCommit = isInTransaction ? /\bCOMMIT$/ : /^\s*(INSERT|UPDATE|DELETE)\b/;
      const delay = isCommit.test(statement) ? this.commitDelayMs : 0;
      if (/\b(COMMIT|ROLLBACK)$/.test(statement)) isInTransaction = false;
      const planned = this.#planned.find(
        (one) => statement !== "" && one.statement.test(statement) && --one.left === 0,
      );
      if (planned?.moment === "after") lost.set(questions, () => planned.act(end));
      if (type === QUERY || type === SYNC) questions += 1;
      toServer(delay, () => {
        if (planned?.moment === "before") planned.act(end);
        if (!isBroken) server.write(message);
      });
    };
    const answer = (message: Buffer): void => {
      const lose = lost.get(answers);
      const isWhole = message[0] === READY;
      if (isWhole) answers += 1;
      toClient(this.answerDelayMs, () => {
        if (isWhole) lose?.();
        if (!isBroken && lose === undefined) client.write(message);
      });
    };
    client.on("data", (chunk: Buffer) => ofClient(chunk).forEach(ask));
    server.on("data", (chunk: Buffer) => ofServer(chunk).forEach(answer));
  }
}
