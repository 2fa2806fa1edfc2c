import { interruption, type Reporter, reporter, runCommand } from "@durable-payments/tools/command";
import { type ChaosResult, executeChaosRun } from "./execute.ts";
import { VERDICTS } from "./evidence/evidence.ts";
import { chaosOptions, DESCRIPTION } from "./options.ts";

const WIDTH = 200;

const shortened = (text: string): string => {
  const [line = ""] = text.split("\n");
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
};

/** Describes a campaign and its findings. */
const resultText = (command: string, result: ChaosResult): string => {
  const { behaviour, counts, findings, folder, harness, questions, seconds } = result;
  const count = (verdict: string) => findings.filter((one) => one.verdict === verdict).length;
  const found = VERDICTS.map((verdict) => `${verdict} ${count(verdict)}`).join(", ");
  const counted = Object.entries(counts).map(([name, times]) => `${name} ${times}`);
  return [
    `${folder === undefined ? "green" : "RED"} ${command} (${seconds} s): ${found}`,
    `  ${counted.join(", ")}`,
    ...behaviour.map((one) => `  service: ${JSON.stringify(one)}`),
    ...Object.entries(questions).map(([what, asked]) => shortened(`  asked ${asked} × ${what}`)),
    ...findings.map(({ subject, verdict, what }) => shortened(`  ${verdict} ${subject}: ${what}`)),
    ...harness.map((one) => `  harness: ${one}`),
    ...(folder === undefined ? [] : [`  Logs, databases and ledgers: ${folder}`]),
    "",
  ].join("\n");
};

const quietReporter: Reporter = { line: () => {}, during: (_, work) => work };

await runCommand("npm run chaos --", DESCRIPTION, chaosOptions, async (options) => {
  const { ledger, quiet, restore, runs, seed, service } = options;
  if (restore !== undefined && ledger === "postgres")
    throw new Error("Give --restore with --ledger sqlite: PostgreSQL fails over.");
  const report = quiet ? quietReporter : reporter();
  report.line(`Seed ${seed}`);
  const result = await executeChaosRun(options, report, interruption());
  const ofService = service === "simulator" ? "" : ` --service ${service}`;
  const ofRestore = restore === undefined ? "" : ` --restore ${restore}`;
  const ofLedger = ledger === "sqlite" ? "" : ` --ledger ${ledger}`;
  const command = `npm run chaos -- --runs ${runs} --seed ${seed}${ofService}${ofLedger}${ofRestore}`;
  process.stdout.write(resultText(command, result));
  return result.folder === undefined ? 0 : 1;
});
