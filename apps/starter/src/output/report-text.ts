import { csvText, MONEY_STATES, type Report, type ReportLine } from "@durable-payments/control";
import { MONEY_WORDS } from "@durable-payments/control/show";
import type { Output } from "./output.ts";
import { counted, joined, styled, table } from "./text.ts";

const GROUPS = { payouts: "", cards: "cards", other: "other" } as const;

/** Names the key of a line: a payee by its name and the last four characters of its account. */
const keyText = ({ account, group, key, name }: ReportLine): string =>
  joined([name ?? key ?? "", account === null ? "" : `…${account}`, GROUPS[group]], " ");

/** Prints one line for each payee, day, batch or reason: only states in which there is money. */
const linesText = (lines: ReadonlyArray<ReportLine>, title: string): string => {
  const states = MONEY_STATES.filter((state) => lines.some((line) => line[state] !== null));
  return table(
    lines.map((line) => [
      keyText(line),
      line.currency,
      String(line.payments),
      ...states.map((state) => line[state] ?? ""),
    ]),
    { head: [title, "", "payments", ...states.map((state) => MONEY_WORDS[state])] },
  );
};

/** Prints the sums of all that matches, one line for each state. */
export const totalsText = (totals: Report["totals"]): string =>
  table(
    totals.flatMap((line) =>
      MONEY_STATES.flatMap((state) => {
        const amount = line[state];
        return amount === null
          ? []
          : [[MONEY_WORDS[state], `${amount} ${line.currency}`, GROUPS[line.group]]];
      }),
    ),
    { indent: "  " },
  );

/** Prints a report. */
export const reportText = ({ by, lines, totals }: Report): string =>
  totals.length === 0
    ? "No payment found."
    : joined(
        [
          lines.length === 0 ? "" : `${linesText(lines, by ?? "")}\n`,
          styled(
            "bold",
            `All ${counted(
              totals.reduce((sum, { payments }) => sum + payments, 0),
              "payment",
            )}`,
          ),
          totalsText(totals),
        ],
        "\n",
      );

/** Prints a report as text, JSON or CSV. */
export const printReport = (output: Output, report: Report, isCsv: boolean): void => {
  if (!isCsv) return output.answer(report, reportText);
  const { by, lines, totals } = report;
  output.text(
    csvText(
      (by === null ? totals : lines).map(
        ({ account, currency, group, key, name, payments, ...line }) => ({
          [by ?? "key"]: key ?? "",
          ...(by === "payee" && { name: name ?? "", account: account ?? "" }),
          group,
          currency,
          payments,
          ...Object.fromEntries(
            MONEY_STATES.map((state) => [
              state.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
              line[state] ?? "",
            ]),
          ),
        }),
      ),
      true,
    ),
  );
};
