/** So many texts are remembered: those of an outage. */
const MOST_TEXTS = 20_000;

/**
 * Makes a pure function of a text remember its results. In an outage each lost write is compared with each listed row:
 * most of that time goes into the same few texts.
 */
export const remembered = <A>(read: (text: string) => A): ((text: string) => A) => {
  const results = new Map<string, { readonly result: A }>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known.result;
    if (results.size >= MOST_TEXTS) results.clear();
    const result = read(text);
    results.set(text, { result });
    return result;
  };
};
