/** How many letters have to be changed, added or left out. */
const distance = (a: string, b: string): number => {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const row = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const changed = (before[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(changed, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    before = row;
  }
  return before[b.length] ?? 0;
};

/** What was probably meant; undefined where nothing is like it. */
export const nearest = (text: string, known: ReadonlyArray<string>): string | undefined => {
  const wanted = text.toLowerCase().replaceAll(/[\s-]+/g, "_");
  const [best] = known
    .map((name) => ({ name, letters: distance(wanted, name.toLowerCase()) }))
    .toSorted((a, b) => a.letters - b.letters);
  return best !== undefined && best.letters <= Math.max(2, text.length / 3) ? best.name : undefined;
};
