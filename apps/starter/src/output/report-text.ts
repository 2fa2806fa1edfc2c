import { csvText, MONEY_STATES, type Report, type ReportLine } from "@durable-payments/control";
import { MONEY_WORDS } from "@durable-payments/control/show";
import type { Output } from "./output.ts";
import {
  columnsOf,
  counted,
  joined,
  roughly,
  screenWidth,
  styled,
  table,
  when,
  wrap,
} from "./text.ts";

const GROUPS = { payouts: "", cards: "cards", other: "other" } as const;

/** Names the key of a line: a payee by its name and the last four characters of its account. */
const keyText = ({ account, group, key, name }: ReportLine): string =>
  joined([name ?? key ?? "", account === null ? "" : `…${account}`, GROUPS[group]], " ");

/** Prints a line with a line below for each of its states. */
const stackedText = (line: ReportLine): string =>
  joined(
    [
      wrap(joined([keyText(line), counted(line.payments, "payment")], ", ")),
      table(
        MONEY_STATES.flatMap((state) =>
          line[state] === null ? [] : [[MONEY_WORDS[state], `${line[state]} ${line.currency}`]],
        ),
        { indent: "  " },
      ),
    ],
    "\n",
  );

/** Prints one line for each payee, day, batch or reason: only states in which there is money. Amounts are never wrapped. */
const linesText = (lines: ReadonlyArray<ReportLine>, title: string, width: number): string => {
  const states = MONEY_STATES.filter((state) => lines.some((line) => line[state] !== null));
  const whole = table(
    lines.map((line) => [
      keyText(line),
      line.currency,
      String(line.payments),
      ...states.map((state) => line[state] ?? ""),
    ]),
    {
      head: [title, "", "payments", ...states.map((state) => MONEY_WORDS[state])],
      width: Number.POSITIVE_INFINITY,
    },
  );
  const isWide = whole.split("\n").some((one) => columnsOf(one) > width);
  return isWide ? lines.map(stackedText).join("\n") : whole;
};

/** Words the time of a report. */
const timeText = ({ since, until }: Pick<Report, "since" | "until">, now: number): string => {
  if (since === null) return until === null ? "" : `Payments before ${when(until)}`;
  return until === null
    ? `Payments of the last ${roughly(now - since)}, since ${when(since)}`
    : `Payments since ${when(since)} and before ${when(until)}`;
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
export const reportText = (
  { by, lines, since, totals, until }: Report,
  now = Date.now(),
  width = screenWidth(),
): string => {
  const time = timeText({ since, until }, now);
  return totals.length === 0
    ? joined([time, "No payment found."], "\n")
    : joined(
        [
          time === "" ? "" : `${time}\n`,
          lines.length === 0 ? "" : `${linesText(lines, by ?? "", width)}\n`,
          styled(
            "bold",
            `All ${counted(
              totals.reduce((sum, { payments }) => sum + payments, 0),
              "payment",
            )}${by === "reason" ? " with a reason" : ""}`,
          ),
          totalsText(totals),
        ],
        "\n",
      );
};

/** Prints a report as text, JSON or CSV. */
export const printReport = (output: Output, report: Report, isCsv: boolean): void => {
  if (!isCsv) return output.answer(report, (shown) => reportText(shown));
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
