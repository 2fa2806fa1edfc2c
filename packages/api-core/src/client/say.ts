import * as Effect from "effect/Effect";

/** Where the client writes what it has to say: `console`, or a logger such as those of pino and winston. */
export interface ClientLogger {
  /** Gets each send that failed and is repeated. */
  readonly debug: (message: string) => void;
  /** Gets what a person should know: fields and rows that could not be read, a hook that threw. */
  readonly warn: (message: string) => void;
}

/** The same as effects that never fail. */
export interface Say {
  readonly debug: (message: string) => Effect.Effect<void>;
  readonly warn: (message: string) => Effect.Effect<void>;
}

/**
 * Calls a function of the program. It must not change the outcome of a payment: nobody waits for an async one, and a
 * fault, at once or later, ends neither the call nor the process.
 */
export const callAside = (
  call: () => unknown,
  onFault: (error: unknown) => Effect.Effect<void> = () => Effect.void,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    try {
      Promise.resolve(call()).catch((error: unknown) => Effect.runFork(onFault(error)));
      return Effect.void;
    } catch (error) {
      return onFault(error);
    }
  });

/** Without a logger of the caller's, Effect's loggers are written to: those of the fiber that calls. */
export const makeSay = (logger: ClientLogger | undefined): Say =>
  logger === undefined
    ? { debug: Effect.logDebug, warn: Effect.logWarning }
    : {
        debug: (message) => callAside(() => logger.debug(message)),
        warn: (message) => callAside(() => logger.warn(message)),
      };
