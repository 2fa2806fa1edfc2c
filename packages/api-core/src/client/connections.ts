import type { Socket } from "node:net";
import * as Effect from "effect/Effect";
import { Client } from "undici";
import type { ClientOptions } from "./config.ts";
import { makeConnector } from "./connector.ts";
import { currentTls } from "./current-credentials.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import type { TlsOptions } from "./tls.ts";

/**
 * An answer above this is not read on, as it comes and decoded: 16 MiB. The largest page of the
 * service has 100 items.
 */
export const LARGEST_RESPONSE_BYTES = 16 * 1024 * 1024;

const CLOSED = new NoResponse(false, "the client is closed");

/** The error for an undici that connects again: it would send without asking whether it may. */
const lost = () => new Error("the connection was lost before it was used");

/** How a connection was opened, and what it is for. */
interface Opened {
  readonly origin: string;
  readonly tls: TlsOptions | undefined;
  /** Whether it is used for more than one request. */
  readonly isKept: boolean;
}

/** A connection to the service, open when it is taken. */
export class Connection {
  readonly client: Client;
  /** Whether a request was sent on it before: the other side may have closed it meanwhile. */
  isUsed = false;
  /** Why the other side refused it, in TLS: undici keeps a later error, which says less. */
  refusal: Error | undefined;
  /** What it was opened with. */
  readonly tls: TlsOptions | undefined;
  readonly #socket: Socket;

  constructor(socket: Socket, { isKept, origin, tls }: Opened) {
    this.tls = tls;
    this.#socket = socket;
    // The service says nothing before it is asked: this is the end of the connection.
    const onReadable = () => socket.destroy();
    socket.on("readable", onReadable);
    let isTaken = false;
    // In TLS 1.3 the other side refuses the client's certificate when the connection is open here.
    socket.on("error", (error: Error) => {
      if (connectionFault(error).remedy !== undefined) this.refusal ??= error;
    });
    this.client = new Client(origin, {
      connect: (_options, callback) => {
        // undici does not expect to be answered within its own question.
        queueMicrotask(() => {
          if (isTaken || socket.destroyed) return callback(this.refusal ?? lost(), null);
          isTaken = true;
          socket.off("readable", onReadable);
          callback(null, socket);
        });
      },
      // Over HTTP/2 undici repeats requests by itself when a server closes the session. What may be
      // repeated is decided by the operation's class, and nowhere else.
      allowH2: false,
      // undici keeps no connection that has no pipeline.
      pipelining: isKept ? 1 : 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: LARGEST_RESPONSE_BYTES,
    });
  }

  /** Whether it was kept, and the other side has closed it since. */
  get isStale(): boolean {
    return this.isUsed && this.#socket.destroyed;
  }

  /** Whether it is open and has nothing to do. */
  get isIdle(): boolean {
    const { connected, size } = this.client.stats;
    return connected && size === 0;
  }

  close(): void {
    this.#socket.destroy();
    void this.client.destroy();
  }
}

type Taken = Effect.Effect<Connection, NoResponse>;

/** What the connections of one kind are made with. */
interface Kind {
  /** Most of them at a time. */
  readonly most: number;
  /** Whether they are used for more than one request. */
  readonly isKept: boolean;
}

/**
 * The connections of a client, as many at a time as its settings allow. undici would do it as well,
 * but takes a request before it has a connection for it: a caller that asks at the last moment whether a
 * request may be sent needs the connection first.
 */
export class Connections {
  readonly #origin: string;
  readonly #kind: Kind;
  readonly #connect: ReturnType<typeof makeConnector>;
  readonly #options: ClientOptions;
  readonly #idle: Array<Connection> = [];
  readonly #inUse = new Set<Connection>();
  /** Those that connect, each with what settles its wait when the client is closed. */
  readonly #connecting = new Set<(outcome: Taken) => void>();
  /** Those that wait for one of the others to be given back, the first one first. */
  readonly #waiting = new Set<(outcome: Taken) => void>();
  #isClosed = false;

  constructor(options: ClientOptions, kind: Kind) {
    this.#connect = makeConnector(options);
    this.#options = options;
    this.#origin = new URL(options.baseUrl).origin;
    this.#kind = kind;
  }

  /**
   * Waits for a connection, at most so long, and uses it.
   *
   * @param timeoutMs covers the wait and the use.
   * @param work gets the connection, and what is left of the time in milliseconds.
   */
  readonly use = <A, E>(
    timeoutMs: number,
    work: (connection: Connection, leftMs: number) => Effect.Effect<A, E>,
  ): Effect.Effect<A, NoResponse | E> =>
    Effect.uninterruptibleMask((restore) => {
      const endsAt = performance.now() + timeoutMs;
      const useAndGiveBack = (connection: Connection) =>
        Effect.onExit(restore(work(connection, Math.max(0, endsAt - performance.now()))), () => {
          this.#giveBack(connection);
          return Effect.void;
        });
      const idle = this.#isFree ? this.#takeIdle() : undefined;
      return idle === undefined
        ? Effect.flatMap(restore(this.#wait(timeoutMs)), useAndGiveBack)
        : useAndGiveBack(idle);
    });

  /** Closes all connections; nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#idle, ...this.#inUse]) connection.close();
    this.#goOn();
    for (const settle of this.#connecting) settle(Effect.fail(CLOSED));
  }

  #wait(timeoutMs: number): Taken {
    return Effect.callback<Connection, NoResponse>((resume) => {
      const settle = (outcome: Taken) => {
        leave();
        resume(outcome);
      };
      const leave = () => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        this.#connecting.delete(settle);
      };
      // A plain timer costs a tenth of a racing fiber, and every request pays for it.
      // @effect-diagnostics-next-line globalTimersInEffect:off
      const timer = setTimeout(() => {
        settle(Effect.fail(new NoResponse(false, `no connection was free within ${timeoutMs} ms`)));
        this.#goOn();
      }, timeoutMs);
      this.#waiting.add(settle);
      this.#goOn();
      return Effect.sync(() => {
        leave();
        this.#goOn();
      });
    });
  }

  #giveBack(connection: Connection): void {
    this.#inUse.delete(connection);
    connection.isUsed = true;
    if (this.#kind.isKept && !this.#isClosed && connection.isIdle) this.#idle.push(connection);
    else connection.close();
    this.#goOn();
  }

  /** Serves those that wait, as far as there are connections. */
  #goOn(): void {
    for (const settle of this.#waiting) {
      if (this.#isClosed) settle(Effect.fail(CLOSED));
      else if (!this.#isFree) return;
      else this.#serve(settle);
    }
  }

  /** Whether one more may be in use. Where it may, nobody waits. */
  get #isFree(): boolean {
    return this.#inUse.size + this.#connecting.size < this.#kind.most;
  }

  #takeIdle(): Connection | undefined {
    const tls = currentTls(this.#options);
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      // One of an earlier certificate is not used on.
      if (idle.isIdle && idle.tls === tls) {
        this.#inUse.add(idle);
        return idle;
      }
      idle.close();
    }
    return undefined;
  }

  #serve(settle: (outcome: Taken) => void): void {
    this.#waiting.delete(settle);
    const idle = this.#takeIdle();
    if (idle !== undefined) return settle(Effect.succeed(idle));
    this.#connecting.add(settle);
    const tls = currentTls(this.#options);
    this.#connect((outcome) => {
      if (outcome instanceof NoResponse) {
        settle(Effect.fail(outcome));
        return this.#goOn();
      }
      // Given up meanwhile, or closed.
      if (!this.#connecting.has(settle)) return void outcome.destroy();
      const { isKept } = this.#kind;
      const connection = new Connection(outcome, { isKept, origin: this.#origin, tls });
      this.#inUse.add(connection);
      settle(Effect.succeed(connection));
    }, tls);
  }
}
