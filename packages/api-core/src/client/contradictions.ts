import type { Assumptions } from "../contract/assumptions.ts";
import type { EchoKind } from "../contract/operation-facts.ts";
import { isOtherAmount } from "../shown-amount.ts";
import { isRecord, lookUp } from "../values.ts";
import type { Operation } from "./operations.ts";

/** A field that an answer shows otherwise than it was sent. */
export interface Contradiction {
  readonly field: string;
  readonly as: EchoKind;
  readonly sent: string;
  readonly shown: string;
}

const lettersAndDigits = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Signs in the place of letters that are not to be read. */
const MASK = /[*•●·█#]{2,}|…|\.{3}|x{3}/i;

const isMasked = (text: string): boolean => MASK.test(text) || lettersAndDigits(text) === "";

const UUID = /^[\da-f]{32}$/;

/** From how many letters and digits on a part of a UUID is no chance. */
const SHORTEST_PART = 16;

const isOtherId = (sent: string, shown: string): boolean => {
  const [a, b] = [lettersAndDigits(sent), lettersAndDigits(shown)];
  if (a === b || isMasked(shown)) return false;
  const isPart = b.length >= SHORTEST_PART && (a.includes(b) || b.includes(a));
  return !(UUID.test(a) && isPart);
};

const isOtherNumber = (sent: string, shown: string): boolean => {
  const [a, b] = [lettersAndDigits(sent), lettersAndDigits(shown)];
  const isPart = a.startsWith(b) || a.endsWith(b) || b.endsWith(a);
  return !isPart && !isMasked(shown);
};

const isOtherCurrency = (sent: string, shown: string): boolean => {
  const code = shown.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(code) && code !== sent.trim().toUpperCase();
};

/** What an object has at a path, where it is a text that says something. */
const textAt = (value: unknown, [name = "", ...rest]: ReadonlyArray<string>): string => {
  const field = isRecord(value) ? value[name] : undefined;
  if (rest.length > 0) return textAt(field, rest);
  return typeof field === "string" ? field : "";
};

const isOther: Readonly<
  Record<EchoKind, (sent: string, shown: string, answer: unknown) => boolean>
> = {
  amount: (sent, shown, answer) => isOtherAmount(sent, shown, textAt(answer, ["fee_amount"])),
  currency: isOtherCurrency,
  id: isOtherId,
  number: isOtherNumber,
};

/**
 * Find what the answer of a write shows otherwise than it was sent, of the fields that it repeats.
 *
 * @param sent the fields of the request
 * @param answer decoded
 */
export const contradictionsOf = (
  { echoes, name }: Operation,
  { echoedFields }: Assumptions,
  sent: unknown,
  answer: unknown,
): ReadonlyArray<Contradiction> =>
  (lookUp<ReadonlyArray<string>>(echoedFields, name) ?? []).flatMap((field) => {
    const { as, shownAs = [field] } = echoes[field] ?? {};
    const [given, shown] = [textAt(sent, [field]), textAt(answer, shownAs)];
    return as !== undefined && given !== "" && shown !== "" && isOther[as](given, shown, answer)
      ? [{ field, as, sent: given, shown }]
      : [];
  });
