/** A wait of a test has lasted too long; the message says where the run stands, and what it waits for. */
export class WaitedTooLong extends Error {
  override readonly name = "WaitedTooLong";
}

/**
 * Wait no longer than a limit of real time.
 *
 * @param limitMs the limit, in milliseconds.
 * @param wait what is waited for; it ends when the signal aborts.
 * @param explain is asked when the limit is reached: what was waited for, and what keeps it.
 * @throws WaitedTooLong with what `explain` says.
 */
export const withinLimit = async <A>(
  limitMs: number,
  wait: (signal: AbortSignal) => Promise<A>,
  explain: () => Promise<string>,
): Promise<A> => {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<"over">((resolve) => {
    timer = setTimeout(() => resolve("over"), limitMs);
  });
  const waiting = wait(over.signal);
  try {
    const ended = await Promise.race([waiting.then((value) => ({ value })), limit]);
    if (ended !== "over") return ended.value;
    const why = await explain();
    throw new WaitedTooLong(`${why} (The limit is ${limitMs / 1000} s: waitLimitMs.)`);
  } finally {
    clearTimeout(timer);
    over.abort();
    // How a wait ends that was given up matters to nobody.
    await waiting.catch(() => undefined);
  }
};
