/**
 * A server that many calls share for years. Two rules keep a call from hanging, and neither limits how long it may take.
 * A connection is opened by the first call that needs it, within `OPEN_WITHIN_MS`. While a call takes long, the server is
 * asked whether it is there: a slow report continues, and a server that is gone or frozen ends the call.
 *
 * A connection that has failed is dropped, so that the next call opens another one. It is closed once nobody uses it.
 */
import * as Clock from "effect/Clock";
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as RcRef from "effect/RcRef";
import * as Scope from "effect/Scope";
import { setTimeout } from "node:timers/promises";

/** Longest time until a connection is open. */
export const OPEN_WITHIN_MS = 3_500;

/** A call that takes longer is watched. */
const WATCH_AFTER_MS = 1_000;

/** Longest time until a server says that it is there. With `WATCH_AFTER_MS`, it is less than five seconds. */
export const ANSWER_WITHIN_MS = 2_000;

/** Longest wait for a connection to close. If it does not answer, then it is left. */
const CLOSE_WITHIN_MS = 250;

/** How long readers that can do without a server do not ask it again after it was away. */
const REMEMBERED_MS = 5_000;

const TICK_MS = 100;

/**
 * Ends once this process has listened for a time. While it computes, as for a bundle, or has to wait for a processor, it
 * hears no answer: such a pause counts as one tick, however long it is, and does not show that a server is away.
 */
export const listened = (milliseconds: number): Effect.Effect<unknown> =>
  Effect.repeat(Effect.sleep(TICK_MS), { times: milliseconds / TICK_MS - 1 });

/** A promise was rejected, with any error. */
export class Rejected extends Data.TaggedError("Rejected")<{ readonly error: unknown }> {}

/** Calls a function; fails if it rejects. */
export const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, Rejected> =>
  Effect.tryPromise({ try: work, catch: (error) => new Rejected({ error }) });

/** How a server is used. */
interface Server<A> {
  readonly open: () => Promise<A>;
  readonly close: (opened: A) => Promise<void>;
  /** Rejects if it does not answer. */
  readonly ask: (opened: A) => Promise<void>;
  /** The error if it does not answer, or not in time. */
  readonly lost: (opened: A) => unknown;
}

/** The connection to a server, shared by all calls. */
export class Shared<A> {
  readonly #server: Server<A>;
  readonly #scope = Scope.makeUnsafe();
  readonly #opened: RcRef.RcRef<A, Rejected>;
  #outage: { readonly error: Rejected; readonly until: number } | undefined;

  constructor(server: Server<A>) {
    this.#server = server;
    const { close, open } = server;
    const inTime = (opened: A) =>
      Promise.race([close(opened), setTimeout(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    const acquire = Effect.acquireRelease(attempt(open), (opened) =>
      Effect.ignore(attempt(() => inTime(opened))),
    );
    this.#opened = Effect.runSync(
      RcRef.make({ acquire, idleTimeToLive: "Infinity" }).pipe(Scope.provide(this.#scope)),
    );
  }

  /** The connection, while the scope is open. */
  get opened(): Effect.Effect<A, Rejected, Scope.Scope> {
    return RcRef.get(this.#opened);
  }

  /** The connection, which has answered just now. */
  get answering(): Effect.Effect<A, Rejected, Scope.Scope> {
    return Effect.tap(this.opened, (opened) => this.#ask(opened));
  }

  /**
   * The connection, which has answered just now, for a reader that can do without it. An outage is remembered for some
   * seconds: until then such a reader does not wait for the server again.
   */
  get answeringLately(): Effect.Effect<A, Rejected, Scope.Scope> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const outage = this.#outage;
      if (outage !== undefined && now < outage.until) return Effect.fail(outage.error);
      return Effect.tapError(this.answering, (error) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          this.#outage = { error, until: at + REMEMBERED_MS };
        }),
      );
    });
  }

  /** Fails once the server does not answer, and never ends otherwise. */
  watch(opened: A): Effect.Effect<never, Rejected> {
    return this.#ask(opened).pipe(Effect.delay(WATCH_AFTER_MS), Effect.forever);
  }

  #ask(opened: A): Effect.Effect<void, Rejected> {
    const late = Effect.andThen(listened(ANSWER_WITHIN_MS), Effect.fail("late"));
    return Effect.raceFirst(
      attempt(() => this.#server.ask(opened)),
      late,
    ).pipe(
      Effect.mapError(() => new Rejected({ error: this.#server.lost(opened) })),
      Effect.tapError(() => this.drop),
    );
  }

  /** The next call opens another connection. */
  get drop(): Effect.Effect<void> {
    return RcRef.invalidate(this.#opened);
  }

  /** Closes the connection, also if it is in use. */
  close(): Promise<void> {
    return Effect.runPromise(Scope.close(this.#scope, Exit.void));
  }
}
