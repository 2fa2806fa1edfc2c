/** The signals on which the SDK drains workers. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"] as const;

/** Runs `work` with a signal that aborts as soon as this process is to drain, or work ends. */
export const untilDraining = async <A>(work: (draining: AbortSignal) => Promise<A>): Promise<A> => {
  const draining = new AbortController();
  const drain = () => draining.abort();
  for (const signal of SIGNALS) process.on(signal, drain);
  try {
    return await work(draining.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, drain);
    drain();
  }
};
