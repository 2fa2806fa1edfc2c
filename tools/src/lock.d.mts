/**
 * Runs `work` while no other process runs work under the same `path`.
 * A lock whose holder has died is taken over after {@link staleAfterMs}.
 *
 * @param path the lock file; its folder must exist
 * @param onWait called once when another process holds the lock
 */
export function withLock<A>(path: string, work: () => Promise<A>, onWait?: () => void): Promise<A>;

/** A lock that was not touched for this many milliseconds belongs to nobody. */
export const staleAfterMs: number;
