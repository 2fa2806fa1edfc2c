import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, it } from "vitest";
import { paymentsBundler } from "../src/bundler-plugin.ts";
import { failureOf } from "./support/failure-of.ts";
import { quiet } from "./support/quiet.ts";
import { throwing } from "./support/throwing.ts";
import { whereLoaded } from "./support/where-loaded.ts";

// A busy machine takes its time.

const workflowsPath = fileURLToPath(new URL("./support/where-loaded.ts", import.meta.url));

const bundle = (shared: ReadonlyArray<string>) =>
  bundleWorkflowCode({ workflowsPath, plugins: [paymentsBundler({ shared })], logger: quiet });

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createLocalEnvironment();
});
afterAll(() => environment?.teardown());

it.each([
  ["that is shared is loaded before all runs", [workflowsPath], false],
  ["that is not shared is loaded by each run", [], true],
])("a module %s", async (_, shared, isLoadedByRun) => {
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    workflowBundle: await bundle(shared),
  });
  const run = () =>
    environment.client.workflow.execute(whereLoaded, { taskQueue, workflowId: randomUUID() });
  expect(await worker.runUntil(async () => [await run(), await run()])).toEqual([
    isLoadedByRun,
    isLoadedByRun,
  ]);
});

it("without a choice the steps are shared, of which private fields stay private fields", async () => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("./examples/pay-two-suppliers.ts", import.meta.url)),
    plugins: [paymentsBundler()],
    webpackConfigHook: (config) => ({
      ...config,
      devtool: false,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
  expect(code).toMatch(
    /preloadModules\(\) \{\s+__webpack_require__\([^)]*@durable-payments\/workflows/,
  );
  // What the SDK's own target makes of a private field.
  expect(code).not.toMatch(/_class_private_field|__classPrivateField/);
});

it("in a bundle for production a failure names the file and line of its source", async () => {
  const path = fileURLToPath(new URL("./support/throwing.ts", import.meta.url));
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: path,
      plugins: [paymentsBundler({ shared: [path] })],
      webpackConfigHook: (config) => ({
        ...config,
        mode: "production",
        devtool: "inline-nosources-source-map",
      }),
      logger: quiet,
    }),
  });
  const failure = await worker.runUntil(() =>
    failureOf(
      environment.client.workflow.execute(throwing, { taskQueue, workflowId: randomUUID() }),
    ),
  );
  const lines = readFileSync(path, "utf8").split("\n");
  const lineOf = (text: string) => 1 + lines.findIndex((line) => line.includes(text));
  expect(failure.stack).toContain(`${path}:${lineOf("nonRetryable(")}:`);
  expect(failure.stack).toContain(`${path}:${lineOf("  refuse();")}:`);
});
