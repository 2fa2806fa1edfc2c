import { interruption, type Reporter, reporter, runCommand } from "@durable-payments/tools/command";
import { buildApps } from "./environment/build-apps.ts";
import { executeChaosRun, isGreen } from "./execute.ts";
import { chaosOptions, help, readOptions } from "./options.ts";
import { resultText } from "./report/result-text.ts";

const quietReporter: Reporter = { line: () => {}, during: async (_, work) => await work };

await runCommand({ help, options: chaosOptions }, async (values) => {
  const campaigns = readOptions(values);
  const signal = interruption();
  const report = values.quiet ? quietReporter : reporter();
  const apps = await report.during("Building worker and starter", buildApps(campaigns[0].encrypt));
  let isAllGreen = true;
  try {
    for (const options of campaigns) {
      report.line(`Seed ${options.seed}`);
      const result = await executeChaosRun(options, { apps, report, signal });
      isAllGreen &&= isGreen(result);
      process.stdout.write(
        values.json
          ? `${JSON.stringify({ green: isGreen(result), ...result })}\n`
          : resultText(result, campaigns.length === 1),
      );
    }
  } finally {
    await apps.remove();
  }
  return isAllGreen ? 0 : 1;
});
