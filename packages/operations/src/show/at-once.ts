/** Requests that are under way at once. */
const AT_ONCE = 16;

/** Does something with each item, a few at once. */
export const atOnce = async <A, B>(
  items: ReadonlyArray<A>,
  use: (item: A) => Promise<B>,
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(use))));
  }
  return results;
};
