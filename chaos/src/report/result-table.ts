import type { Finding } from "../evidence/findings.ts";
import { type ChaosResult, isGreen } from "../execute.ts";

const LABEL = 24;
const NUMBER = 6;
const COLUMNS = 3;
const WIDTH = 200;

const row = (label: string, count: number, note = ""): string =>
  `${label.padEnd(LABEL)}${String(count).padStart(NUMBER)}${note === "" ? "" : `   ${note}`}`;

/** Counts side by side, as many as a line holds. */
const grid = (counts: Readonly<Record<string, number>>): ReadonlyArray<string> => {
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

const listed = (title: string, findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.length === 0
    ? []
    : ["", `${title}:`, ...findings.map(({ subject, what }) => shortened(`  ${subject}: ${what}`))];

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

const found = ({ duplicates, harness, lost, stuck, wrong }: ChaosResult) => ({
  duplicates: duplicates.length,
  lost: lost.length,
  wrong: wrong.length,
  stuck: stuck.length,
  harness: harness.length,
});

const command = ({ options, runs }: ChaosResult): string =>
  [
    `npm run chaos -- --runs ${sum(runs)} --seed ${options.seed}`,
    ...(options.server === "dev" ? [] : [`--server ${options.server}`]),
    ...(options.service === "simulator" ? [] : [`--service ${options.service}`]),
    ...(options.loss === undefined ? [] : [`--${options.loss}`]),
    ...(options.encrypt ? ["--encrypt"] : []),
  ].join(" ");

/** Writes the result in one line, for one of many. */
export const summaryLine = (result: ChaosResult): string => {
  const { completed, ended, failed, loss, refused, requestFaults, runs, seconds } = result;
  const figures = Object.entries(found(result)).map(([name, count]) => `${name} ${count}`);
  return [
    `${isGreen(result) ? "green" : "RED  "} ${command(result).slice("npm run chaos -- ".length)}`,
    `${sum(runs)} runs ${seconds} s`,
    `completed ${completed} refused ${refused} failed ${failed} ended ${ended}`,
    `faults ${sum(requestFaults)}`,
    `asked ${sum(result.questions)}`,
    ...(loss === undefined ? [] : [`forgotten ${loss.forgotten} made ${loss.madeBetween}`]),
    figures.join(" "),
    JSON.stringify(result.behaviour),
  ].join(" | ");
};

/** Writes the result as a table of 80 columns. */
export const resultTable = (result: ChaosResult): string => {
  const { harness, loss, operator, options, processFaults, questions, requestFaults, runs } =
    result;
  const { serverKills, serverRestarts, simulatorKills, workerFreezes, workerKills } = processFaults;
  const { databaseStops, partKills } = processFaults;
  const conclusion = isGreen(result)
    ? "Green: each run that completed has its payouts, or its card, exactly once."
    : `Red. Again with this seed: ${command(result)}`;
  return [
    `Seed ${options.seed}, ${result.seconds} s${options.loss === undefined ? "" : `, ${options.loss}`}${options.encrypt ? ", encrypted" : ""}`,
    `The service (${options.service}): ${JSON.stringify(result.behaviour)}`,
    "",
    row("runs", sum(runs), `${runs.onboarding} onboardings, ${runs.payTwice} that pay twice`),
    row("  completed", result.completed),
    row("  refused", result.refused, "by an injected fault; that step did nothing"),
    row("  failed", result.failed, "as planned: payouts that fail, checks and funds too late"),
    row("  ended", result.ended, "by people, or by Temporal's own tools"),
    row("faults that struck", sum(requestFaults)),
    ...grid(requestFaults),
    row("workers killed", workerKills, `and frozen ${workerFreezes}`),
    row("service killed", simulatorKills),
    row("server restarted", serverRestarts, `${serverKills} of them killed`),
    ...(options.server === "dev"
      ? []
      : [
          row("its processes killed", partKills, "each by itself"),
          row("PostgreSQL stopped", databaseStops, "immediately"),
        ]),
    "people and tools",
    ...grid(operator),
    ...(loss === undefined
      ? []
      : [row("forgotten runs", loss.forgotten, `made since the copy: ${loss.madeBetween}`)]),
    row("questions", sum(questions), "about the outcome of a write"),
    ...Object.entries(questions).map(([what, count]) => shortened(`  ${count} × ${what}`)),
    "answers",
    ...grid(result.answers),
    "",
    ...Object.entries(found(result))
      .filter(([name]) => name !== "harness")
      .map(([name, count]) => row(name, count)),
    ...listed("Duplicates", result.duplicates),
    ...listed("Lost", result.lost),
    ...listed("Wrong", result.wrong),
    ...listed("Stuck", result.stuck),
    ...(harness.length === 0
      ? []
      : ["", "Of the campaign itself:", ...harness.map((one) => `  ${one}`)]),
    ...(result.folder === undefined ? [] : ["", `Logs, databases and ledgers: ${result.folder}`]),
    "",
    conclusion,
    "",
  ].join("\n");
};
