// The process that download-with-sdk.ts starts: kind, folder, version. Starting the server once
// shows that what was downloaded runs here.
import { messageOf } from "@durable-payments/api-core/values";
import { TestWorkflowEnvironment } from "@temporalio/testing";

const [kind, downloadDir = "", version = ""] = process.argv.slice(2);
const server = { executable: { type: "cached-download" as const, downloadDir, version } };
try {
  const environment =
    kind === "time-skipping"
      ? await TestWorkflowEnvironment.createTimeSkipping({ server })
      : await TestWorkflowEnvironment.createLocal({ server });
  await environment.teardown();
} catch (error) {
  // The causes stand one after the other; the last two name what went wrong.
  process.stderr.write(`${messageOf(error).split(": ").slice(-2).join(": ")}\n`);
  process.exitCode = 1;
}
