import { lastFour, textAt } from "./values.ts";

/** Capitals and digits of a text in ASCII. */
const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[^A-Z\d]/g, "");

/** ISO 13616: letters count from 10, the first four last, 1 is left of 97. `ibantools` knows no other countries, and is large. */
const isIban = (letters: string): boolean => {
  const turned = letters.slice(4) + letters.slice(0, 4);
  const digits = turned.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
};

/** Whatever stands between the letters of a number. */
const GAP = String.raw`[^A-Z\d]*`;

/** What has the form of an IBAN: 15 to 34 letters and digits, and perhaps words after it. */
const IBAN = `[A-Z]${GAP}[A-Z](?:${GAP}\\d){2}(?:${GAP}[A-Z\\d]){11,30}`;

const SHORTEST_IBAN = 15;

/** Shorter than this, and a number may be a part of anything. */
const SHORTEST_NUMBER = 5;

/** Returns the number that a text begins with, as it is written there: a known one, or the longest that is an IBAN. */
const numberIn = (text: string, known: ReadonlyArray<string>): string | undefined => {
  for (let end = text.length; end > 0; end--) {
    const written = text.slice(0, end);
    const letters = lettersOf(written);
    if (known.includes(letters) || (letters.length >= SHORTEST_IBAN && isIban(letters))) {
      return written.replace(/[^A-Z\d]+$/i, "");
    }
  }
  return undefined;
};

/** Masks IBANs and the numbers given to their last four digits, whatever stands between their letters, in any width. */
export const withoutAccounts = (text: string, numbers: ReadonlyArray<string> = []): string => {
  const known = numbers.map(lettersOf).filter(({ length }) => length >= SHORTEST_NUMBER);
  const forms = [...known.map((number) => Array.from(number).join(GAP)), IBAN];
  const pattern = new RegExp(forms.join("|"), "gi");
  const plain = text.normalize("NFKC");
  let masked = "";
  let shownTo = 0;
  for (let match = pattern.exec(plain); match !== null; match = pattern.exec(plain)) {
    const number = numberIn(match[0], known);
    pattern.lastIndex = match.index + (number?.length ?? 1);
    if (number === undefined) continue;
    masked += plain.slice(shownTo, match.index) + lastFour(lettersOf(number));
    shownTo = pattern.lastIndex;
  }
  return shownTo === 0 ? text : masked + plain.slice(shownTo);
};

/** Lists the account numbers of a beneficiary. */
export const accountNumbersOf = (beneficiary: unknown): ReadonlyArray<string> =>
  ["account_number", "iban"].flatMap((field) => textAt(beneficiary, field) ?? []);
