/** Write a text as it may stand in a visibility query, whatever is in it. */
export const queryText = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** Write texts as the list of a visibility query's `IN`. */
export const queryTexts = (texts: Iterable<string>): string =>
  `(${[...texts].map(queryText).join(", ")})`;
