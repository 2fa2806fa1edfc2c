import { interruption, type Reporter, reporter, runCommand } from "@durable-payments/tools/command";
import { buildApps } from "./environment/build-apps.ts";
import { type ChaosResult, executeChaosRun, isGreen } from "./execute.ts";
import { chaosOptions, help, readOptions } from "./options.ts";

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

const command = ({ options: { loss, runs, seed, service } }: ChaosResult): string =>
  [
    `npm run chaos -- --runs ${runs} --seed ${seed}`,
    ...(service === "simulator" ? [] : [`--service ${service}`]),
    ...(loss === undefined ? [] : [`--${loss}`]),
  ].join(" ");

/** Describes a campaign and its findings. */
const resultText = (result: ChaosResult): string => {
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

const quietReporter: Reporter = { line: () => {}, during: async (_, work) => await work };

await runCommand({ help, options: chaosOptions }, async (values) => {
  const options = readOptions(values);
  const signal = interruption();
  const report = values.quiet ? quietReporter : reporter();
  const apps = await report.during("Building the worker", buildApps());
  try {
    report.line(`Seed ${options.seed}`);
    const result = await executeChaosRun(options, { apps, report, signal });
    process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : resultText(result));
    return isGreen(result) ? 0 : 1;
  } finally {
    await apps.remove();
  }
});
