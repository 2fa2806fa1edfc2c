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

/** Without a logger of the caller's, Effect's loggers are written to: those of the fiber that calls. */
export const makeSay = (logger: ClientLogger | undefined): Say => {
  if (logger === undefined) return { debug: Effect.logDebug, warn: Effect.logWarning };
  const write = (level: keyof ClientLogger) => (message: string) =>
    Effect.sync(() => {
      // A logger that fails, at once or later, must not change the outcome of a payment: nobody waits for an
      // async one, and that it rejects must not end the process.
      try {
        const written: unknown = logger[level](message);
        Promise.resolve(written).catch(() => undefined);
      } catch {
        // As above.
      }
    });
  return { debug: write("debug"), warn: write("warn") };
};
