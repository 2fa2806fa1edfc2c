import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { checkPackages } from "../src/worker/check-packages.ts";

const plugin = {
  version: "0.1.0",
  peerDependencies: { "@temporalio/worker": "^1.24.0", effect: "^4.1.0" },
};

/** The module of a project that has these packages in its `node_modules`, by their paths there. */
const project = (packages: Readonly<Record<string, object>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "check-packages-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, manifest] of Object.entries(packages)) {
    const at = join(folder, "node_modules", path);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, "package.json"), JSON.stringify(manifest));
  }
  return pathToFileURL(join(folder, "worker.js")).href;
};

it("accepts what this repository has", () => {
  expect(() => checkPackages()).not.toThrow();
});

it.each(["1.24.0", "1.25.3"])("accepts the Temporal SDK %s", (version) => {
  const from = project({
    "@durable-payments/plugin": plugin,
    "@temporalio/worker": { version },
    effect: { version: "4.1.0" },
  });
  expect(() => checkPackages(from)).not.toThrow();
});

it.each(["1.23.2", "2.0.0"])("refuses the Temporal SDK %s, with what to install", (version) => {
  const from = project({
    "@durable-payments/plugin": plugin,
    "@temporalio/worker": { version },
  });
  expect(() => checkPackages(from)).toThrow(
    `@temporalio/worker is ${version} here, and @durable-payments/plugin needs ^1.24.0: npm install @temporalio/worker@^1.24.0, without --legacy-peer-deps or --force.`,
  );
});

it("refuses an older Effect", () => {
  const from = project({ "@durable-payments/plugin": plugin, effect: { version: "3.19.0" } });
  expect(() => checkPackages(from)).toThrow("effect is 3.19.0 here");
});

it("refuses two copies of what packages share, and says where they are", () => {
  const common = { version: "1.24.0", dependencies: { "@temporalio/common": "*" } };
  const from = project({
    "@temporalio/worker": common,
    "@temporalio/client": common,
    "@temporalio/common": { version: "1.24.1" },
    "@temporalio/worker/node_modules/@temporalio/common": { version: "1.24.0" },
  });
  expect(() => checkPackages(from)).toThrow(
    /^@temporalio\/common is installed 2 times \(1\.24\.1 in .*, 1\.24\.0 in .*worker\/node_modules\/.*\), .*npm dedupe/,
  );
});

it("asks nothing of a program that was bundled, or has other copies for itself", () => {
  expect(() => checkPackages(project({}))).not.toThrow();
  const from = project({
    "@durable-payments/plugin": plugin,
    "@durable-payments/plugin/node_modules/effect": { version: "4.1.0" },
    "@temporalio/worker": { version: "1.24.0" },
    effect: { version: "3.19.0" },
  });
  expect(() => checkPackages(from)).not.toThrow();
});
