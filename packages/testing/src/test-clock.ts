import type { TestService } from "@temporalio/client";
import type { Duration } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { setTimeout as sleepInRealTime } from "node:timers/promises";

/** The time of a Temporal server that runs for tests. */
export interface TestClock {
  /** Milliseconds since 1970, by the server. */
  readonly now: () => Promise<number>;
  /** Lets a server that skips waiting do so while `wait` is under way; several may be at once. */
  readonly skipWhile: <A>(wait: () => Promise<A>) => Promise<A>;
  /** Lets so much of the server's time pass. */
  readonly sleep: (duration: Duration) => Promise<void>;
}

/** The server takes it for a fault, and ends, when skipping is allowed twice: so it is counted here. */
class Skipping {
  readonly #service: TestService;
  #waits = 0;
  /** One call of the server after the other. */
  #calls: Promise<unknown> = Promise.resolve();

  constructor(service: TestService) {
    this.#service = service;
  }

  #call(call: () => Promise<unknown>): Promise<void> {
    const called = this.#calls.then(call);
    this.#calls = called.catch(() => undefined);
    return called.then(() => undefined);
  }

  async while<A>(wait: () => Promise<A>): Promise<A> {
    await this.#call(async () => {
      if (this.#waits === 0) await this.#service.unlockTimeSkipping({});
      this.#waits += 1;
    });
    try {
      return await wait();
    } finally {
      await this.#call(async () => {
        this.#waits -= 1;
        if (this.#waits === 0) await this.#service.lockTimeSkipping({});
      });
    }
  }

  /** A sleep allows skipping by itself, and must not where it is allowed already. */
  async sleep(sleep: () => Promise<void>): Promise<void> {
    await this.#call(async () => {
      if (this.#waits > 0) await this.#service.lockTimeSkipping({});
      try {
        await sleep();
      } finally {
        if (this.#waits > 0) await this.#service.unlockTimeSkipping({});
      }
    });
  }
}

/** The clock of a server of the SDK's test environment. */
export const testClockOf = (environment: TestWorkflowEnvironment): TestClock => {
  const { testService } = environment.connection;
  const now = () => environment.currentTimeMs();
  if (!environment.supportsTimeSkipping || testService === undefined) {
    return { now, skipWhile: (wait) => wait(), sleep: (duration) => environment.sleep(duration) };
  }
  const skipping = new Skipping(testService);
  return {
    now,
    skipWhile: (wait) => skipping.while(wait),
    sleep: (duration) => skipping.sleep(() => environment.sleep(duration)),
  };
};

/** Waits for a moment of the computer's clock. */
export const pause = (milliseconds: number): Promise<void> => sleepInRealTime(milliseconds);
