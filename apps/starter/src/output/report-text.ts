import { csvText, MONEY_WORDS, type Report, type ReportLine } from "@durable-payments/control/show";
import type { Output } from "./output.ts";
import {
  counted,
  joined,
  money,
  noteLines,
  payeeText,
  roughly,
  styled,
  table,
  when,
  wrap,
} from "./text.ts";

const GROUPS = { payouts: "", cards: "cards", other: "other" } as const;

/** Words the time of a report. */
const timeText = ({ since, until }: Pick<Report, "since" | "until">, now: number): string => {
  if (since === null) return until === null ? "" : `Payments before ${when(until)}`;
  return until === null
    ? `Payments of the last ${roughly(now - since)}, since ${when(since)}`
    : `Payments since ${when(since)} and before ${when(until)}`;
};

/** Prints sums, one line for each state of the money. */
export const totalsText = (lines: ReadonlyArray<ReportLine>): string =>
  table(
    lines.map((line) => [
      MONEY_WORDS[line.state],
      money(line),
      counted(line.payments, "payment"),
      GROUPS[line.group],
    ]),
    { indent: "  " },
  );

/** Prints the sums of one payee, day, batch or reason. A payee is named with the last four characters of its account. */
const groupText = ([key, lines]: readonly [string | null, ReadonlyArray<ReportLine>]): string => {
  const [line] = lines;
  const payee = payeeText({
    payee: key,
    payeeName: line?.name ?? null,
    payeeAccount: line?.account ?? null,
  });
  return `${wrap(payee ?? "none")}\n${totalsText(lines)}`;
};

/** Prints what a person has to know of sums: the payments whose status no setting lists. */
export const unlistedLines = (unlisted: Report["unlisted"]): ReadonlyArray<string> =>
  noteLines(
    unlisted.map(
      ({ key, payments, state, ...sum }) =>
        `${counted(payments, "payment")} (${money(sum)}) ${payments === 1 ? "counts" : "count"} as ${MONEY_WORDS[state]}, but the service says "${key}", which no setting lists: use word to say what that means.`,
    ),
  );

/** Prints a report. */
export const reportText = (
  { by, lines, since, totals, unlisted, until }: Report,
  now = Date.now(),
): string => {
  const count = totals.reduce((sum, { payments }) => sum + payments, 0);
  const all = `All ${counted(count, "payment")}${by === "reason" ? " with a reason" : ""}`;
  const groups = [...Map.groupBy(lines, ({ key }) => key)].map(groupText);
  const sums =
    totals.length === 0 ? "No payment found." : `${styled("bold", all)}\n${totalsText(totals)}`;
  const notes = unlistedLines(unlisted).join("\n");
  return joined([timeText({ since, until }, now), ...groups, sums, notes], "\n\n");
};

/** Prints a report as text, JSON, JSON Lines or CSV. */
export const printReport = (
  output: Output,
  report: Report,
  { csv, jsonl }: Readonly<Record<"csv" | "jsonl", boolean>>,
): void => {
  const { by, lines, totals } = report;
  if (jsonl || csv) for (const note of unlistedLines(report.unlisted)) output.say(note);
  if (jsonl) return output.lines(by === null ? totals : lines);
  if (!csv) return output.answer(report, (shown) => reportText(shown));
  output.text(
    csvText(
      (by === null ? totals : lines).map(
        ({ account, amount, currency, group, key, name, payments, state }) => ({
          [by ?? "key"]: key ?? "",
          ...(by === "payee" && { name: name ?? "", account: account ?? "" }),
          group,
          money: state,
          payments,
          amount,
          currency,
        }),
      ),
      true,
    ),
  );
};
