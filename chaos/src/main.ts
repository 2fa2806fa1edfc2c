import { interruption, type Reporter, reporter, runCommand } from "@durable-payments/tools/command";
import { buildApps } from "./environment/build-apps.ts";
import { executeChaosRun, isGreen } from "./execute.ts";
import { chaosOptions, help, readOptions } from "./options.ts";
import { resultText } from "./report/result-text.ts";

const quietReporter: Reporter = { line: () => {}, during: async (_, work) => await work };

await runCommand({ help, options: chaosOptions }, async (values) => {
  const options = readOptions(values);
  const signal = interruption();
  const report = values.quiet ? quietReporter : reporter();
  const apps = await report.during("Building the worker", buildApps(options.encrypt));
  try {
    report.line(`Seed ${options.seed}`);
    const result = await executeChaosRun(options, { apps, report, signal });
    process.stdout.write(resultText(result));
    return isGreen(result) ? 0 : 1;
  } finally {
    await apps.remove();
  }
});
