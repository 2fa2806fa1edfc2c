/** When an item was created, in milliseconds since 1970; one without a readable time may be new. */
export const createdAt = (item: { readonly create_time?: string }): number =>
  Date.parse(item.create_time ?? "") || Number.POSITIVE_INFINITY;

/** Whether a page shows that the list is newest first, so that the pages after it are older still. */
export const isNewestFirst = (times: ReadonlyArray<number>): boolean =>
  times.every((time, i) => i === 0 || time <= (times[i - 1] ?? 0)) &&
  (times.at(0) ?? 0) > (times.at(-1) ?? 0);
