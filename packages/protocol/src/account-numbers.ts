import { lastFour, textAt } from "./values.ts";

/** Capitals and digits of a text in ASCII, and where each of them stands in it. */
interface Letters {
  readonly text: string;
  readonly at: ReadonlyArray<number>;
}

const lettersOf = (text: string): Letters => {
  const at: Array<number> = [];
  let letters = "";
  let position = 0;
  for (const character of text) {
    for (const letter of character.normalize("NFKC").toUpperCase()) {
      if (/[A-Z\d]/.test(letter)) {
        letters += letter;
        at.push(position);
      }
    }
    position += character.length;
  }
  return { text: letters, at };
};

const SHORTEST_IBAN = 15;
const LONGEST_IBAN = 34;

/** ISO 13616: letters count from 10, the first four last, 1 is left of 97. `ibantools` knows no other countries, and is large. */
const isIban = (letters: string): boolean => {
  const turned = letters.slice(4) + letters.slice(0, 4);
  const digits = turned.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
};

/** How many letters from a place on are an IBAN; the most, where several are. */
const ibanAt = (text: string, start: number): number => {
  if (!/^[A-Z]{2}\d{2}/.test(text.slice(start, start + 4))) return 0;
  const most = Math.min(LONGEST_IBAN, text.length - start);
  for (let length = most; length >= SHORTEST_IBAN; length--) {
    if (isIban(text.slice(start, start + length))) return length;
  }
  return 0;
};

/** Shorter than this, and a number may be a part of anything. */
const SHORTEST_NUMBER = 5;

/** Masks IBANs and the numbers given to their last four digits, whatever stands between their letters, in any width. */
export const withoutAccounts = (text: string, numbers: ReadonlyArray<string> = []): string => {
  const letters = lettersOf(text);
  const known = numbers
    .map((number) => lettersOf(number).text)
    .filter(({ length }) => length >= SHORTEST_NUMBER);
  let masked = "";
  let shownTo = 0;
  for (let start = 0; start < letters.text.length; start++) {
    const number = known.find((one) => letters.text.startsWith(one, start));
    const length = number?.length ?? ibanAt(letters.text, start);
    if (length === 0) continue;
    const last = letters.at[start + length - 1] ?? text.length;
    masked += `${text.slice(shownTo, letters.at[start])}${lastFour(letters.text.slice(start, start + length))}`;
    shownTo = last + String.fromCodePoint(text.codePointAt(last) ?? 0).length;
    start += length - 1;
  }
  return masked + text.slice(shownTo);
};

/** Lists the account numbers of a beneficiary. */
export const accountNumbersOf = (beneficiary: unknown): ReadonlyArray<string> =>
  ["account_number", "iban"].flatMap((field) => textAt(beneficiary, field) ?? []);
