import { fileURLToPath } from "node:url";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { bundleForReplay, replayHistories } from "../../src/index.ts";
import { activityScheduled, historyOf } from "./histories.ts";

// A process that replays what is not deterministic, twice: at first with the Runtime that it installs, if it does.
if (process.argv.includes("--install")) {
  Runtime.install({
    logger: new DefaultLogger("INFO", ({ message }) => console.log(`own logger: ${message}`)),
    telemetryOptions: { logging: { filter: "WARN", forward: {} } },
  });
}
const bundle = await bundleForReplay(fileURLToPath(new URL("workflows.ts", import.meta.url)));
const history = historyOf("callsFirst", activityScheduled("second"));
for (let time = 1; time <= 2; time += 1) {
  for await (const { deterministic } of replayHistories(bundle, [{ workflowId: "run", history }])) {
    console.log(`${time}: ${deterministic}`);
  }
}
const next = Runtime.instance();
if (next.logger instanceof DefaultLogger) console.log(next.logger.level);
await next.shutdown();
