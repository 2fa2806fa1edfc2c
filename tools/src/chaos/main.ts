import { interruption } from "../interruption.ts";
import { type Reporter, reporter } from "../progress.ts";
import { runCommand } from "../run-command.ts";
import { conduct, isGreen } from "./conduct.ts";
import { chaosOptions, help, readOptions } from "./options.ts";
import { describeResult } from "./table.ts";

const quietReporter: Reporter = { line: () => {}, during: async (_, work) => await work };

await runCommand({ help, options: chaosOptions }, async (values) => {
  const options = readOptions(values);
  const signal = interruption();
  const report = values.quiet ? quietReporter : reporter();
  report.line(`Seed ${options.seed}`);
  const result = await conduct(options, report, signal);
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ green: isGreen(result), ...result })}\n`
      : describeResult(result),
  );
  return isGreen(result) ? 0 : 1;
});
