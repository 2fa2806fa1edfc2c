/** Works through items, so many at a time. */
export const each = async <Item>(
  items: ReadonlyArray<Item>,
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const one = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
};
