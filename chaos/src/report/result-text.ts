import { type ChaosResult, isGreen } from "../execute.ts";

const WIDTH = 200;

const shortened = (text: string): string => {
  const [line = ""] = text.split("\n");
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
};

/** Counts that are not zero. */
const counted = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ");

const command = ({ options: { encrypt, loss, runs, seed, service } }: ChaosResult): string =>
  [
    `npm run chaos -- --runs ${runs} --seed ${seed}`,
    ...(service === "simulator" ? [] : [`--service ${service}`]),
    ...(loss === undefined ? [] : [`--${loss}`]),
    ...(encrypt ? ["--encrypt"] : []),
  ].join(" ");

/** Writes what a campaign did and found. */
export const resultText = (result: ChaosResult): string => {
  const { endings, findings, folder, harness, loss, questions, runs } = result;
  const count = (verdict: string) => findings.filter((one) => one.verdict === verdict).length;
  const found = `duplicates ${count("duplicate")}, lost ${count("lost")}, wrong ${count("wrong")}, stuck ${count("stuck")}`;
  return [
    `${isGreen(result) ? "green" : "RED"} ${command(result)} (${result.seconds} s): ${found}`,
    `  runs: ${counted(runs)}; ${counted(endings)}`,
    `  faults: ${counted({ ...result.requestFaults, ...result.processFaults })}`,
    `  people and tools: ${counted({ ...result.operator, ...result.answers })}`,
    `  service: ${JSON.stringify(result.behaviour)}`,
    ...(loss === undefined
      ? []
      : [`  forgotten runs ${loss.forgotten}, made since the copy ${loss.madeBetween}`]),
    ...Object.entries(questions).map(([what, asked]) => shortened(`  asked ${asked} × ${what}`)),
    ...findings.map(({ subject, verdict, what }) => shortened(`  ${verdict} ${subject}: ${what}`)),
    ...harness.map((one) => `  harness: ${one}`),
    ...(folder === undefined ? [] : [`  Logs, databases and ledgers: ${folder}`]),
    "",
  ].join("\n");
};
