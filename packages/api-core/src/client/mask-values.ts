/** A stretch of a text, the end excluded. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The letters and digits of a text in one form, and where each of them stands. */
interface Letters {
  /** In lower case, without what stands between them; `BREAK` where that is long. */
  readonly text: string;
  readonly starts: ReadonlyArray<number>;
  readonly ends: ReadonlyArray<number>;
}

/** More than this between two letters, and they do not belong together: a list as JSON has less. */
const LONGEST_GAP = 8;

/** Stands where a gap is too long; part of no value. */
const BREAK = "\u0000";

/** As texts and URLs write one character: `%20`, also encoded again, `\u00a0`, `\n`, `&nbsp;`, `&#32;`. */
const WRITTEN_OTHERWISE =
  /%(?:25){0,4}([\da-fA-F]{2})|\\{1,16}(?:u([\da-fA-F]{4})|[nrt])?|&(?:#(\d{1,6})|#x([\da-fA-F]{1,5})|[a-zA-Z]{2,8});/y;

const LETTER = /^[\p{L}\p{N}]$/u;

/** The letter or digit that a character is, in one form; undefined for anything else. */
const letterOf = (character: string): string | undefined => {
  const one = character.normalize("NFKC").toLowerCase();
  return one.length === 1 && LETTER.test(one) ? one : undefined;
};

const isPlain = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

const LAST_OF_ONE_BYTE = 0x7f;

/** What is written otherwise; nothing for what is no letter or digit anyway, and for parts of UTF-8. */
const characterOf = ([, byte, unit, decimal, hex]: RegExpExecArray): string => {
  if (byte !== undefined) {
    const code = Number.parseInt(byte, 16);
    return code > LAST_OF_ONE_BYTE ? "" : String.fromCodePoint(code);
  }
  return String.fromCodePoint(
    decimal === undefined ? Number.parseInt(unit ?? hex ?? "0", 16) : Number(decimal),
  );
};

/** The character at a place of a text, and where the next one begins. */
const characterAt = (text: string, start: number): { character: string; end: number } => {
  const first = text[start] ?? "";
  if (first === "%" || first === "\\" || first === "&") {
    WRITTEN_OTHERWISE.lastIndex = start;
    const written = WRITTEN_OTHERWISE.exec(text);
    if (written !== null)
      return { character: characterOf(written), end: start + written[0].length };
  }
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  return { character, end: start + character.length };
};

const lettersOf = (text: string): Letters => {
  const letters: Array<string> = [];
  const starts: Array<number> = [];
  const ends: Array<number> = [];
  const add = (letter: string, start: number, end: number): void => {
    letters.push(letter);
    starts.push(start);
    ends.push(end);
  };
  let gap = 0;
  for (let start = 0; start < text.length;) {
    let end = start + 1;
    let letter: string | undefined = text[start] ?? "";
    if (isPlain(text.charCodeAt(start))) letter = letter.toLowerCase();
    else {
      const read = characterAt(text, start);
      letter = letterOf(read.character);
      end = read.end;
    }
    if (letter === undefined) gap += 1;
    else {
      if (gap > LONGEST_GAP) add(BREAK, start, start);
      gap = 0;
      add(letter, start, end);
    }
    start = end;
  }
  return { text: letters.join(""), starts, ends };
};

/** Shorter ones would hide half of a text: they count as a word, written as they are. */
const SHORTEST_VALUE = 4;
const SHORTEST_WORD = 2;

/** Shorter values count only in one piece: with gaps, any few numbers could be one. */
const SHORTEST_WITH_GAPS = 6;

/** A part of a value that is this long says whose it is: the account number within an IBAN. */
const PART = 8;

/** Parts of fewer different characters, zeros for instance, may be of anything. */
const DIFFERENT_IN_PART = 3;

const partsOf = (value: string): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, value.length - PART + 1) }, (_, i) =>
    value.slice(i, i + PART),
  ).filter((part) => new Set(part).size >= DIFFERENT_IN_PART);

/** Every place of a text within another, without those that overlap an earlier one. */
const placesOf = (text: string, part: string): Array<number> => {
  const places: Array<number> = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    places.push(at);
  }
  return places;
};

/** In order, those that touch or overlap made one. */
const united = (stretches: ReadonlyArray<Stretch>): Array<Stretch> => {
  const all: Array<Stretch> = [];
  for (const next of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last !== undefined && next.start <= last.end) {
      all[all.length - 1] = { start: last.start, end: Math.max(last.end, next.end) };
    } else all.push(next);
  }
  return all;
};

/** Values that must not be shown. */
export interface KnownValues {
  /** Account numbers, tokens: a part of one says whose it is. */
  readonly secrets?: Iterable<string>;
  /** Names, addresses: a part of one may be of anything. */
  readonly personal?: Iterable<string>;
}

/** Where short values stand as words. */
const wordsOf = (text: string, values: Iterable<string>): ReadonlyArray<Stretch> =>
  [...new Set(values)]
    .filter(({ length }) => length >= SHORTEST_WORD && length < SHORTEST_VALUE)
    .flatMap((value) =>
      placesOf(text, value)
        .map((start) => ({ start, end: start + value.length }))
        .filter(
          ({ end, start }) =>
            letterOf(text[start - 1] ?? " ") === undefined &&
            letterOf(text[end] ?? " ") === undefined,
        ),
    );

/**
 * Where a text has one of the values, or of secrets a part of eight characters or more: in capitals or not,
 * with anything but letters and digits in between, percent-encoded or escaped.
 */
const stretchesOf = (
  text: string,
  { personal = [], secrets = [] }: KnownValues,
): Array<Stretch> => {
  const ofSecrets = new Set(secrets);
  const known = [...new Set([...ofSecrets, ...personal])].filter(
    ({ length }) => length >= SHORTEST_VALUE,
  );
  const words = wordsOf(text, personal);
  if (known.length === 0) return united(words);
  const { ends, starts, text: letters } = lettersOf(text);
  const found: Array<Stretch> = [...words];
  const add = (from: number, length: number): void => {
    const start = starts[from] ?? 0;
    const end = ends[from + length - 1] ?? 0;
    if (length >= SHORTEST_WITH_GAPS || end - start === length) found.push({ start, end });
  };
  const parts = new Set<string>();
  for (const value of known) {
    for (const start of placesOf(text, value)) found.push({ start, end: start + value.length });
    const plain = lettersOf(value).text.replaceAll(BREAK, "");
    if (plain.length < SHORTEST_VALUE) continue;
    for (const place of placesOf(letters, plain)) add(place, plain.length);
    if (ofSecrets.has(value)) for (const part of partsOf(plain)) parts.add(part);
  }
  if (parts.size > 0) {
    for (let i = 0; i + PART <= letters.length; i++) {
      if (parts.has(letters.slice(i, i + PART))) add(i, PART);
    }
  }
  return united(found);
};

/** What is left of the stretches without those places of `kept` that they do not cover as a whole. */
const without = (
  stretches: ReadonlyArray<Stretch>,
  kept: ReadonlyArray<Stretch>,
): Array<Stretch> => {
  const left: Array<Stretch> = [];
  const places = united(kept);
  let next = 0;
  for (const { end, start } of stretches) {
    while ((places[next]?.end ?? Infinity) <= start) next += 1;
    let from = start;
    for (let i = next; (places[i]?.start ?? Infinity) < end; i++) {
      const place = places[i] ?? { start: end, end };
      if (place.start >= start && place.end <= end) continue;
      if (place.start > from) left.push({ start: from, end: place.start });
      from = Math.max(from, place.end);
    }
    if (from < end) left.push({ start: from, end });
  }
  return left;
};

/** A text with `mask` in the place of the values; see {@link stretchesOf}. What is `kept` stays whole. */
export const maskValues = (
  text: string,
  values: KnownValues,
  kept: (text: string) => ReadonlyArray<Stretch>,
  mask: string,
): string => {
  const found = stretchesOf(text, values);
  if (found.length === 0) return text;
  const shown: Array<string> = [];
  let from = 0;
  for (const { end, start } of without(found, kept(text))) {
    shown.push(text.slice(from, start), mask);
    from = end;
  }
  return shown.join("") + text.slice(from);
};
