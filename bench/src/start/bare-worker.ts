import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";

// The least that a worker of the bare SDK is: a connection, a prebuilt bundle, one activity.
const [address = "", codePath = ""] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger("ERROR") });
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: "bench-start",
  workflowBundle: { codePath },
  activities: { nothing: async () => undefined },
});
const ended = worker.run();
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
process.once("SIGTERM", () => worker.shutdown());
await ended;
process.exit(0);
