import type { Finding } from "../evidence/findings.ts";
import { type ChaosResult, isGreen } from "../execute.ts";

const LABEL = 24;
const NUMBER = 6;
const COLUMNS = 3;
const WIDTH = 160;

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

const found = ({ duplicates, harness, lost, stuck, wrong }: ChaosResult) => ({
  duplicates: duplicates.length,
  lost: lost.length,
  wrong: wrong.length,
  stuck: stuck.length,
  harness: harness.length,
});

const command = ({ options, runs }: ChaosResult): string =>
  `npm run chaos -- --runs ${sum(runs)} --seed ${options.seed}${options.restore ? " --restore" : ""}`;

/** The result in one line, for one of many. */
export const lineOf = (result: ChaosResult): string => {
  const { completed, ended, failed, faults, options, questions, refused, runs, seconds } = result;
  const figures = Object.entries(found(result)).map(([name, count]) => `${name} ${count}`);
  return [
    `${isGreen(result) ? "green" : "RED  "} seed ${options.seed}${options.restore ? " restore" : ""}`,
    `${sum(runs)} runs ${seconds} s`,
    `completed ${completed} refused ${refused} failed ${failed} ended ${ended}`,
    `faults ${sum(faults)}`,
    `asked ${sum(questions)} spared ${questions.ours + questions.only}`,
    ...(result.restored === undefined
      ? []
      : [`forgotten ${result.restored.forgotten} made ${result.restored.madeBetween}`]),
    figures.join(" "),
    JSON.stringify(options.temper.temperament),
  ].join(" | ");
};

/** The result as a table of 80 columns. */
export const describeResult = (result: ChaosResult): string => {
  const { answers, disturbances, faults, harness, operator, options, questions, runs } = result;
  const { serverKills, serverRestarts, simulatorKills, workerFreezes, workerKills } = disturbances;
  const verdict = isGreen(result)
    ? "Green: each run that completed has its payouts, or its card, exactly once."
    : `Red. Again with this seed: ${command(result)}`;
  return [
    `Seed ${options.seed}, ${result.seconds} s${options.restore ? ", database put back" : ""}`,
    `The service: ${JSON.stringify(options.temper.temperament)}`,
    "",
    row("runs", sum(runs), `${runs.onboarding} onboardings, ${runs.payTwice} that pay twice`),
    row("  completed", result.completed),
    row("  refused", result.refused, "by an injected fault; nothing came of that step"),
    row("  failed", result.failed, "as planned: payouts that fail, checks and funds too late"),
    row("  ended by people", result.ended, "cancelled, terminated, abandoned"),
    row("faults that struck", sum(faults)),
    ...grid(faults),
    row("workers killed", workerKills, `and frozen ${workerFreezes}`),
    row("simulator killed", simulatorKills),
    row("server restarted", serverRestarts, `${serverKills} of them killed`),
    row("false signals", disturbances.falseSignals),
    row("cancelled", operator.cancelled, `terminated ${operator.terminated}`),
    row("retried", operator.retried, `in bulk ${operator.retriedInBulk}`),
    row("paused", operator.pauses),
    ...(result.restored === undefined
      ? []
      : [
          row(
            "forgotten",
            result.restored.forgotten,
            `runs; made between copy and return ${result.restored.madeBetween}`,
          ),
        ]),
    row(
      "asked a person",
      sum(answers),
      `found ${answers.found}, resend ${answers.resend}, amend ${answers.amend}, abandon ${answers.abandon}`,
    ),
    row(
      "  what came of a send",
      sum(questions),
      `to be spared ${questions.ours + questions.only}, absent ${questions.absent}, unclear ${questions.unclear}`,
    ),
    "",
    ...Object.entries(found(result))
      .filter(([name]) => name !== "harness")
      .map(([name, count]) => row(name, count)),
    ...listed("Duplicates", result.duplicates),
    ...listed("Lost", result.lost),
    ...listed("Wrong", result.wrong),
    ...listed("Stuck", result.stuck),
    ...listed(
      "Questions to be spared",
      result.sparable.map(({ reason, step, workflowId }) => ({
        subject: `${workflowId} ${step}`,
        what: reason,
      })),
    ),
    ...(harness.length === 0
      ? []
      : ["", "Not as it must be:", ...harness.map((one) => `  ${one}`)]),
    ...(result.folder === undefined ? [] : ["", `Logs, database and ledger: ${result.folder}`]),
    "",
    verdict,
    "",
  ].join("\n");
};
