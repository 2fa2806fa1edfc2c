import type { Finding } from "../evidence/findings.ts";
import { type ChaosResult, isGreen } from "../execute.ts";

const WIDTH = 200;

const shortened = (text: string): string => {
  const [line = ""] = text.split("\n");
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
};

const listed = (title: string, findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.map(({ subject, what }) => shortened(`  ${title} ${subject}: ${what}`));

/** Counts that are not zero. */
const counted = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ");

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

const command = ({ options, runs }: ChaosResult): string =>
  [
    `npm run chaos -- --runs ${sum(runs)} --seed ${options.seed}`,
    ...(options.server === "dev" ? [] : [`--server ${options.server}`]),
    ...(options.service === "simulator" ? [] : [`--service ${options.service}`]),
    ...(options.loss === undefined ? [] : [`--${options.loss}`]),
    ...(options.encrypt ? ["--encrypt"] : []),
  ].join(" ");

/** Writes what a campaign did and found; what it was made of, too, where it is one alone. */
export const resultText = (result: ChaosResult, isAlone: boolean): string => {
  const { completed, duplicates, ended, failed, harness, loss, lost, questions } = result;
  const { refused, requestFaults, runs, seconds, stuck, wrong } = result;
  const found = `duplicates ${duplicates.length}, lost ${lost.length}, wrong ${wrong.length}, stuck ${stuck.length}`;
  return [
    `${isGreen(result) ? "green" : "RED"} ${command(result)} (${seconds} s): ${found}`,
    `  runs ${sum(runs)}: completed ${completed}, refused ${refused}, failed as planned ${failed}, ended ${ended}`,
    ...(isAlone
      ? [
          `  faults: ${counted({ ...requestFaults, ...result.processFaults })}`,
          `  people and tools: ${counted({ ...result.operator, ...result.answers })}`,
          `  service: ${JSON.stringify(result.behaviour)}`,
        ]
      : []),
    ...(loss === undefined
      ? []
      : [`  forgotten runs ${loss.forgotten}, made since the copy ${loss.madeBetween}`]),
    ...Object.entries(questions).map(([what, count]) => shortened(`  asked ${count} × ${what}`)),
    ...listed("duplicate", duplicates),
    ...listed("lost", lost),
    ...listed("wrong", wrong),
    ...listed("stuck", stuck),
    ...harness.map((one) => `  harness: ${one}`),
    ...(result.folder === undefined ? [] : [`  Logs, databases and ledgers: ${result.folder}`]),
    "",
  ].join("\n");
};
