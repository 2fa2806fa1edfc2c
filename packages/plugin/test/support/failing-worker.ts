/** A worker beside whom one of its companions fails while it runs, by the path that the SDK takes for fatal errors; WORKFLOW_BUNDLE names its bundle. */
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { PaymentsPlugin } from "../../src/index.ts";

const create = Worker.create.bind(Worker);
let fail = () => {};
Worker.create = async (options) => {
  const worker = await create(options);
  if (options.taskQueue === "payments/service") {
    const { instantTerminateErrorSubject: subject } = worker as unknown as {
      readonly instantTerminateErrorSubject: { readonly error: (error: Error) => void };
    };
    fail = () => subject.error(new Error("a fatal error"));
  }
  return worker;
};

Runtime.install({ logger: new DefaultLogger("ERROR") });
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await NativeConnection.connect(connectionOptions);
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: "payments",
  workflowBundle: { codePath: process.env["WORKFLOW_BUNDLE"] ?? "" },
  plugins: [new PaymentsPlugin({ onReady: () => setTimeout(() => fail(), 500) })],
});
await worker.run();
