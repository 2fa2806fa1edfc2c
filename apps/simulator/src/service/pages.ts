/** A page of a list: `newestFirst` cut to the page that was asked for. */
export const pageOf = <Item, View>(
  newestFirst: ReadonlyArray<Item>,
  { page_num, page_size }: { readonly page_num: number; readonly page_size: number },
  view: (item: Item) => View,
) => ({
  total_item: newestFirst.length,
  total_page: Math.ceil(newestFirst.length / page_size),
  item_list: newestFirst.slice((page_num - 1) * page_size, page_num * page_size).map(view),
});

/** Whether a time, ISO 8601, lies in a range of milliseconds, both ends included; an unset time never does. */
export const isWithin = (
  time: string | undefined,
  { end, start }: { readonly start?: number; readonly end?: number },
): boolean => {
  if (start === undefined && end === undefined) return true;
  if (time === undefined) return false;
  const at = Date.parse(time);
  return at >= (start ?? -Infinity) && at <= (end ?? Infinity);
};
