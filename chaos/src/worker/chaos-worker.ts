/**
 * The worker of the chaos run: the project's own, with a workflow more. CHAOS_BUNDLE names the
 * workflow bundle, which the chaos run has built.
 */
import { runWorker } from "@durable-payments/worker/run-worker";

const codePath = process.env["CHAOS_BUNDLE"] ?? "";
await runWorker(
  (polling) => void process.stdout.write(`${JSON.stringify({ ready: true, ...polling })}\n`),
  async () => ({ codePath }),
);
