import type * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type * as Fiber from "effect/Fiber";
import type * as Scope from "effect/Scope";
import { callAfter, monotonicMs } from "./clock.ts";
import type { ClientOptions } from "./config.ts";
import { RateLimited } from "./errors.ts";
import { type Failed, failed } from "./outcomes.ts";
import { timeIsOver } from "./failures.ts";
import { type Outgoing, PRIORITIES, type Priority } from "./send.ts";

/*
 * When a request may be sent: the rate, the pauses and the connections of one account, shared by all calls of a client.
 *
 * The service answers HTTP 429 to an account, not to a call. If each call waited for itself, then the service would
 * refuse the others as well: of 300 payouts at 5 requests a second, it refused 12 requests for each payout. So
 *
 * - a 429 pauses all sends, as long as its `Retry-After` says, but no longer than a call would wait: an hour may be meant
 *   for one operation. It lowers the rate to 0.85 of what was refused;
 * - afterwards the rate grows back by a cubic, as TCP CUBIC does: quickly towards the rate that was refused, slowly near
 *   it, and quickly again beyond it, in case that the service allows more now. Only sends that had to wait for the rate
 *   count, so that a night without traffic does not end in a burst. Several clients that share a limit adapt to each other;
 * - a client that knows no limit yet begins with few sends at once, one more after each answer;
 * - the sends of a limited rate are evenly spaced: a second's worth at once would be twice as many in one second;
 * - what waits is let through by its priority, at most as many at once as there are connections;
 * - a call that would wait longer than `maxRetryWaitMs` fails instead, and says when its turn is to be expected. A worker
 *   gives its activity slot back meanwhile.
 */

/** Sends at once of a client that has not had an answer yet. */
const FIRST_WINDOW = 8;

/** How far the rate falls below the one that was refused. */
const DROP = 0.15;

/** How long it sends below the rate that was refused. */
const RECOVERY_MS = 20_000;

const LOWEST_RATE = 0.1;

/** The longest wait that a call is asked for: the rate may rise meanwhile. */
const LONGEST_PROMISE_MS = 30_000;

/** Earlier than by this, a send does not follow the one before: timers have this resolution. */
const TIMER_MS = 1;

/** A send that was let through. */
interface Turn {
  readonly at: number;
}

interface Waiter {
  readonly until: number;
  readonly give: (turn: Effect.Effect<Turn, Failed>) => void;
  readonly expired: () => Failed;
}

/** Makes the limits of an account, which end with the scope. */
export const makeLimits = (options: ClientOptions): Effect.Effect<Limits, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.clockWith((clock) => Effect.sync(() => new Limits(clock, options))),
    (limits) => Effect.sync(() => limits.close()),
  );

/** When requests of the account may be sent. */
export class Limits {
  readonly #clock: Clock.Clock;
  readonly #options: ClientOptions;
  readonly #waiting: Readonly<Record<Priority, Array<Waiter>>> = {
    first: [],
    normal: [],
    last: [],
  };
  /** Sends under way, and how many there may be. */
  #sending = 0;
  #window = FIRST_WINDOW;
  /** The last rate that was refused, when, and for how long it has been sent at the rate since. */
  #refused: { readonly rate: number; readonly at: number } | undefined;
  #probedMs = 0;
  #pausedUntil = -Infinity;
  /** When the next send follows the last one. */
  #nextAt = -Infinity;
  /** When the calls come back that were asked to. */
  #away: Array<number> = [];
  /** Sends that were not refused, in the present second and the one before. */
  readonly #second = { from: -Infinity, count: 0, before: 0 };
  #timer: Fiber.Fiber<void> | undefined;
  #wakesAt = Infinity;

  constructor(clock: Clock.Clock, options: ClientOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Waits for the turn of a request, no longer than it may. Each turn has to be ended. */
  readonly turn = (request: Outgoing): Effect.Effect<Turn, Failed> =>
    Effect.suspend(() => {
      const now = monotonicMs(this.#clock);
      const ahead = this.#ahead(request.priority);
      if (ahead === 0 && this.#hasFree() && this.#earliest() <= now) {
        return Effect.succeed(this.#begin(now, false));
      }
      const { maxRetryWaitMs } = this.#options;
      if (this.#expectedMs(now, ahead) > maxRetryWaitMs) {
        return Effect.fail(this.#notYet(request, now, ahead));
      }
      return Effect.callback<Turn, Failed>((resume) => {
        const endsAt = request.limit?.endsAt ?? Infinity;
        const waiter: Waiter = {
          until: Math.min(now + maxRetryWaitMs, endsAt),
          give: resume,
          expired: () =>
            endsAt <= now + maxRetryWaitMs
              ? timeIsOver(request)
              : this.#notYet(request, now + maxRetryWaitMs, 0),
        };
        this.#waiting[request.priority].push(waiter);
        this.#release();
        return Effect.sync(() => void this.#remove(waiter));
      });
    });

  /** The send of a turn has ended; `pauseMs` is set if the service answered that it was one too many. */
  readonly ended = ({ at }: Turn, pauseMs: number | undefined): void => {
    const now = monotonicMs(this.#clock);
    this.#sending -= 1;
    if (pauseMs === undefined) this.#wasAccepted(now);
    else this.#wasRefused(at, now, pauseMs);
    if (this.#ahead("last") > 0) this.#release();
  };

  /** Requests a second at most, now; undefined if no limit is known. */
  readonly rate = (): number | undefined => {
    const rate = this.#rate();
    return rate === Infinity ? undefined : rate;
  };

  close(): void {
    this.#timer?.interruptUnsafe();
  }

  #rate(): number {
    const { requestsPerSecond } = this.#options;
    const upperBound = requestsPerSecond === 0 ? Infinity : requestsPerSecond;
    if (this.#refused === undefined) return upperBound;
    const untilThen = 1 - this.#probedMs / RECOVERY_MS;
    return Math.min(upperBound, this.#refused.rate * (1 - DROP * untilThen ** 3));
  }

  #intervalMs(): number {
    return 1000 / this.#rate();
  }

  /** How long a call waits that has so many before it. */
  #expectedMs(now: number, ahead: number): number {
    return this.#earliest() - now + ahead * this.#intervalMs();
  }

  #earliest(): number {
    return Math.max(this.#pausedUntil, this.#nextAt);
  }

  #hasFree(): boolean {
    return this.#sending < Math.min(this.#window, this.#options.maxConnections);
  }

  /** How many wait that go before a new call of a priority, or with it. */
  #ahead(priority: Priority): number {
    let ahead = 0;
    for (const one of PRIORITIES) {
      ahead += this.#waiting[one].length;
      if (one === priority) break;
    }
    return ahead;
  }

  #begin(now: number, hasWaited: boolean): Turn {
    const intervalMs = this.#intervalMs();
    this.#sending += 1;
    this.#nextAt = Math.max(this.#nextAt, now - TIMER_MS) + intervalMs;
    if (hasWaited) this.#probedMs += intervalMs;
    return { at: now };
  }

  #wasAccepted(now: number): void {
    this.#window += 1;
    const second = this.#second;
    const age = now - second.from;
    if (age >= 1000) {
      second.before = age < 2000 ? second.count : 0;
      second.count = 0;
      second.from = now;
    }
    second.count += 1;
  }

  #wasRefused(sentAt: number, now: number, pauseMs: number): void {
    const longestMs = this.#options.maxRetryWaitMs;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(pauseMs, longestMs));
    // It was sent before the rate was lowered.
    if (this.#refused !== undefined && sentAt < this.#refused.at) return;
    const rate = this.#rate();
    const seen = Math.max(FIRST_WINDOW, this.#second.count, this.#second.before);
    this.#refused = { rate: Math.max(LOWEST_RATE, rate === Infinity ? seen : rate), at: now };
    this.#probedMs = 0;
  }

  /** The failure of a call that will not wait here until its turn. */
  #notYet({ operation }: Outgoing, now: number, ahead: number): Failed {
    this.#away = this.#away.filter((at) => at > now);
    const expectedMs = this.#expectedMs(now, ahead + this.#away.length + 1);
    // After a part of the time: the rate may rise meanwhile, and there should always be one waiting.
    const retryAfter = Math.ceil(Math.min(LONGEST_PROMISE_MS, Math.max(1, expectedMs / 4)));
    this.#away.push(now + retryAfter);
    const seconds = Math.ceil(retryAfter / 1000);
    return failed(
      new RateLimited({
        operation: operation.name,
        carriedOut: "no",
        message: `${operation.name} was not sent yet: other calls of the account go first. Try again in ${seconds} s, or wait longer (maxRetryWaitMs).`,
        retryAfter,
        by: "rate",
      }),
      "never",
    );
  }

  #remove(waiter: Waiter): boolean {
    const waiting = PRIORITIES.map((one) => this.#waiting[one]).find((one) => one.includes(waiter));
    waiting?.splice(waiting.indexOf(waiter), 1);
    if (this.#ahead("last") === 0) this.#sleep(Infinity);
    return waiting !== undefined;
  }

  /** Lets through what may go now, ends what has waited too long, and sleeps until one of both is due again. */
  #release(): void {
    const now = monotonicMs(this.#clock);
    let earliest = this.#earliest();
    let soonest = Infinity;
    for (const priority of PRIORITIES) {
      const waiting = this.#waiting[priority];
      let waiter: Waiter | undefined;
      while (this.#hasFree() && earliest <= now && (waiter = waiting.shift()) !== undefined) {
        waiter.give(Effect.succeed(this.#begin(now, true)));
        earliest = this.#earliest();
      }
      for (const expired of waiting.filter(({ until }) => until <= now)) {
        if (this.#remove(expired)) expired.give(Effect.fail(expired.expired()));
      }
      for (const { until } of waiting) soonest = Math.min(soonest, until);
    }
    if (soonest < Infinity && this.#hasFree()) soonest = Math.min(soonest, earliest);
    this.#sleep(soonest);
  }

  #sleep(until: number): void {
    if (until === this.#wakesAt) return;
    this.#timer?.interruptUnsafe();
    this.#wakesAt = until;
    this.#timer =
      until === Infinity
        ? undefined
        : callAfter(this.#clock, Math.max(1, until - monotonicMs(this.#clock)), () => {
            this.#timer = undefined;
            this.#wakesAt = Infinity;
            this.#release();
          });
  }
}
