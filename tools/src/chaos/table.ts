import type { Finding } from "./findings.ts";
import { type ChaosResult, isGreen } from "./conduct.ts";

const LABEL = 24;
const NUMBER = 6;
const COLUMNS = 3;
const WIDTH = 80;

const row = (label: string, count: number, note = ""): string =>
  `${label.padEnd(LABEL)}${String(count).padStart(NUMBER)}${note === "" ? "" : `   ${note}`}`;

/** Counts side by side, as many as a line holds. */
const grid = (counts: Readonly<Record<string, number>>): string[] => {
  const cells = Object.entries(counts).map(
    ([name, count]) => `${name.padEnd(20)}${String(count).padStart(4)}`,
  );
  return Array.from({ length: Math.ceil(cells.length / COLUMNS) }, (_, line) =>
    `  ${cells.slice(line * COLUMNS, (line + 1) * COLUMNS).join("  ")}`.trimEnd(),
  );
};

const shortened = (text: string): string => {
  const [line = ""] = text.split("\n");
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
};

const listed = (title: string, findings: readonly Finding[]): string[] =>
  findings.length === 0
    ? []
    : ["", `${title}:`, ...findings.map(({ subject, what }) => shortened(`  ${subject}: ${what}`))];

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

/** The result as a table of 80 columns. */
export const describeResult = (result: ChaosResult): string => {
  const { answers, disturbances, duplicates, faults, harness, lost, options, stuck, wrong } =
    result;
  const { serverKills, serverRestarts, simulatorKills, workerKills } = disturbances;
  const runs = result.onboardings + result.payouts;
  const keys = options.echoKeys ? "shown" : "not shown";
  const verdict = isGreen(result)
    ? "Green: each run that completed has its payout, or its card, exactly once."
    : `Red. Again with this seed: npm run chaos -- --runs ${runs} --seed ${options.seed} --echo-keys ${options.echoKeys}`;
  return [
    `Seed ${options.seed}, keys of payouts ${keys}, ${result.seconds} s`,
    "",
    row("runs", runs, `${result.onboardings} onboardings, ${result.payouts} payouts`),
    row("  completed", result.completed),
    row("  refused", result.refused, "by an injected fault; nothing came of that step"),
    row("faults that struck", sum(faults)),
    ...grid(faults),
    row("workers killed", workerKills),
    row("simulator killed", simulatorKills),
    row("server restarted", serverRestarts, `${serverKills} of them killed`),
    row(
      "asked a person",
      sum(answers),
      `found ${answers.found}, resend ${answers.resend}, amend ${answers.amend}`,
    ),
    "",
    row("duplicates", duplicates.length),
    row("lost", lost.length),
    row("wrong", wrong.length),
    row("stuck", stuck.length),
    ...listed("Duplicates", duplicates),
    ...listed("Lost", lost),
    ...listed("Wrong", wrong),
    ...listed("Stuck", stuck),
    ...(harness.length === 0
      ? []
      : ["", "Not as it must be:", ...harness.map((one) => `  ${one}`)]),
    ...(result.folder === undefined ? [] : ["", `Logs, database and ledger: ${result.folder}`]),
    "",
    verdict,
    "",
  ].join("\n");
};
