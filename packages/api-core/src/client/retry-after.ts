/** However long a server asks to wait, it is asked again within a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/**
 * `Retry-After`, seconds or an HTTP date, in whole milliseconds from `now`; undefined where it
 * cannot be read.
 */
export const retryAfterMs = (header: string, now: number): number | undefined => {
  const text = header.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.ceil(Math.min(LONGEST_MS, Math.max(0, wait)));
};
