import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Outcome, outcomeOf, OUTCOMES, type ResponseClass } from "../src/client/outcomes.ts";
import type { IdempotencyClass } from "../src/contract/operation-facts.ts";

const FILE = new URL("../../../docs/errors-and-outcomes.md", import.meta.url);
const BEGIN = "<!-- outcomes -->";
const END = "<!-- /outcomes -->";

const CLASSES: ReadonlyArray<IdempotencyClass> = ["safe", "idempotent", "keyed", "none"];
// The table's own keys.
const RESPONSES = Object.keys(OUTCOMES) as ReadonlyArray<ResponseClass>;

const cells = RESPONSES.flatMap((is) =>
  CLASSES.map((operation) => ({ is, operation, outcome: outcomeOf(is, operation) })),
);

/** A cell in a few words, with what is done for this class of operations. */
const inWords = (operation: IdempotencyClass, { carriedOut, retry }: Outcome): string => {
  if (carriedOut === "yes") return "yes / not resent";
  const isResent = retry === "always" || (retry === "ifIdempotent" && operation !== "none");
  return `${carriedOut} / ${isResent ? "resent" : "not resent"}`;
};

const table = (): string =>
  [
    BEGIN,
    "",
    "Generated from `packages/api-core/src/client/outcomes.ts`: `OUTCOMES=write npx vitest run --project=@durable-payments/api-core test/outcome-table`.",
    "",
    `| response | error if there was no effect | ${CLASSES.map((of) => `${of}: took effect / resent by the client`).join(" | ")} |`,
    `| --- | --- | ${CLASSES.map(() => "---").join(" | ")} |`,
    ...RESPONSES.map((is) => {
      const { error, means } = OUTCOMES[is];
      const outcomes = CLASSES.map((operation) => inWords(operation, outcomeOf(is, operation)));
      return `| ${means} | ${error === "none" ? "" : `\`${error}\``} | ${outcomes.join(" | ")} |`;
    }),
    "",
    END,
  ].join("\n");

/** A formatter may align the table. */
const withoutPadding = (text: string): string => text.replaceAll(/[ -]+/gu, " ");

it("docs/errors-and-outcomes.md prints the table", () => {
  const page = readFileSync(FILE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  if (process.env["OUTCOMES"] === "write") writeFileSync(FILE, before + table() + after);
  expect(withoutPadding(page)).toContain(withoutPadding(table()));
});

describe("the table of outcomes", () => {
  it("has no unknown outcome of a read, and sends nothing again that may have been carried out", () => {
    const wrong = cells.filter(
      ({ operation, outcome: { carriedOut, retry } }) =>
        (operation === "safe" && carriedOut === "unknown") ||
        (retry === "always" && carriedOut !== "no") ||
        (carriedOut === "yes" && retry !== "never"),
    );
    expect(wrong).toStrictEqual([]);
  });

  it("never sends a payout, a cardholder or a beneficiary again while its outcome is unknown", () => {
    const resent = cells.filter(
      ({ operation, outcome }) =>
        operation === "none" && outcome.carriedOut === "unknown" && outcome.retry === "always",
    );
    expect(resent).toStrictEqual([]);
  });

  it("is the one that was agreed: what is unknown of which writes", () => {
    const unknown = Map.groupBy(
      cells.filter(({ outcome }) => outcome.carriedOut === "unknown"),
      ({ is }) => is,
    );
    const WRITES = "idempotent keyed none";
    expect(
      Object.fromEntries(
        [...unknown].map(([is, of]) => [is, of.map(({ operation }) => operation).join(" ")]),
      ),
    ).toStrictEqual({
      lost: WRITES,
      lostUntilFixed: WRITES,
      serverFault: WRITES,
      gateway: WRITES,
      tokenRejectedByGateway: WRITES,
      refusedResend: "keyed",
      conflict: "keyed none",
      contradictory: WRITES,
      unreadable: WRITES,
    });
  });
});
