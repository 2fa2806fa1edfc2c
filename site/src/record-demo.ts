import { reporter, runCommand } from "@durable-payments/tools/command";
import { checkout, lastLines, spawnProcess } from "@durable-payments/tools/processes";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { drawRecording, type RecordedLine } from "./recording.ts";

const help = `Usage: npm run record-demo

Runs npm run demo and draws its output, as it appears over time, into docs/pictures/demo.svg.

Options:
  --help   shows this text

Exit codes: 0 drawn, 1 the demo failed: nothing is drawn.
`;

const COMMAND = "npm run demo";

/** The lines that the demo prints, and when. */
const record = async (): Promise<ReadonlyArray<RecordedLine>> => {
  const started = performance.now();
  const lines: Array<RecordedLine> = [{ at: 0, text: `$ ${COMMAND}` }];
  const demo = spawnProcess("npm", ["run", "--silent", "demo"], { cwd: checkout });
  const add = (line: string) => {
    const text = line.replace(`by ${userInfo().username}`, "by ada");
    lines.push({ at: performance.now() - started, text });
  };
  demo.onStdout(add);
  demo.onStderr(add);
  const { code } = await demo.exited;
  if (code !== 0) throw new Error(`${COMMAND} ended with exit code ${code}:\n${lastLines(demo)}`);
  return lines;
};

await runCommand({ help, options: {} }, async () => {
  const lines = await reporter().during("Recording the demo", record());
  const file = join(checkout, "docs/pictures/demo.svg");
  writeFileSync(
    file,
    drawRecording(lines, `${COMMAND}: one onboarding, and payouts from two accounts`),
  );
  process.stdout.write(`${file}\n`);
  return 0;
});
