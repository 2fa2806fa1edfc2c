import type { Duplicates, MadeTwice } from "@durable-payments/control/payments";
import { EXIT_CODES } from "../exit-codes.ts";
import { counted, pairs, styled, wrap } from "./text.ts";

const WORDS: Readonly<Record<MadeTwice["kind"], string>> = {
  person: "One person was requested several times",
  name: "The service lists several cardholders of one name, and the ledger does not show that they are several people",
  card: "One card was requested several times",
  cardCount: "The service counts more cards of a cardholder than the ledger has requested",
};

const conclusion = ({ duplicates, isProved }: Duplicates): string => {
  if (duplicates.length > 0) return counted(duplicates.length, "duplicate");
  return isProved
    ? "No cardholder and no card exists twice."
    : "No duplicate was found, but it is not proved that there are none.";
};

/** Prints what exists twice, by ids. */
export const duplicatesText = (found: Duplicates): string =>
  [
    ...found.accounts.flatMap(({ account, cardholders, cards, listed, name, whyNot }) => {
      const here = `${counted(cardholders, "cardholder")} and ${counted(cards, "card")} in the ledger`;
      const there = listed === null ? "" : `, ${counted(listed, "cardholder")} at the service`;
      return [
        `${name ?? account}: ${here}${there}`,
        ...(whyNot === null ? [] : [wrap(`not proved: ${whyNot}`, "  ")]),
      ];
    }),
    styled("bold", conclusion(found)),
    ...found.duplicates.flatMap(({ cardholders, cards, kind, workflowIds }) => [
      "",
      wrap(WORDS[kind]),
      pairs([
        ["cardholders", cardholders.join(", ")],
        ["cards", cards.join(", ")],
        ["runs", workflowIds.join(", ")],
      ]),
    ]),
  ].join("\n");

/** Returns the exit code: duplicates count for more than a list that cannot be read. */
export const codeOfDuplicates = ({ accounts, duplicates, isProved }: Duplicates): number => {
  if (duplicates.length > 0) return EXIT_CODES.runFailed;
  if (isProved) return EXIT_CODES.done;
  return accounts.some(({ listed }) => listed === null)
    ? EXIT_CODES.cannotConnect
    : EXIT_CODES.stillOpen;
};
