// The client as those have it who install nothing else: neither Effect, nor undici, nor Temporal.
import { startSimulator } from "@durable-payments/simulator";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { CLIENT, readManifest } from "../src/packages/manifests.ts";
import { packPackages } from "../src/packages/pack.ts";
import { checkout } from "../src/processes.ts";
import { filesIn, tarballFaults } from "./support/tarball.ts";
import { type User, userIn } from "./support/user.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const { name, peers } = readManifest(CLIENT);
const TYPES = ["typescript@5.9", "@types/node@22"];

/** Each client fails; the error is of a class of the other entry. */
const BOTH = `
import { createClient, InvalidRequest as OfPromises } from "@durable-payments/client";
import { InvalidRequest as OfEffect, PaymentsClient } from "@durable-payments/client/effect";
import { Effect, Redacted } from "effect";

const settings = { baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" };
const client = createClient(settings);
const rejected: unknown = await client.retrievePayout({ payout_id: "" }).catch((e: unknown) => e);
await client.close();
const failed = await Effect.runPromise(
  PaymentsClient.use((client) => Effect.flip(client.retrievePayout({ payout_id: "" }))).pipe(
    Effect.provide(PaymentsClient.layer(settings)),
  ),
);
// The Effect inside the promise client cannot read what the program's Effect has hidden.
const unread = createClient({ ...settings, apiKey: Redacted.make("k") as never });
const unreadable = await unread.ping().catch((e: unknown) => e);
console.log(rejected instanceof OfEffect, failed instanceof OfPromises, String(unreadable));
`;

let folder: string;
let tarball: string;
let user: User;
const install = (...packages: ReadonlyArray<string>) =>
  user.run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages);
const compile = (...files: ReadonlyArray<string>) =>
  user.run(
    "tsc",
    "--strict",
    "--target",
    "es2024",
    "--module",
    "nodenext",
    "--outDir",
    "dist",
    ...files,
  );

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "durable-payments-client-"));
  tarball = (await packPackages([CLIENT], folder))[name] ?? "";
  user = userIn(mkdtempSync(join(folder, "project-")));
  writeFileSync(join(user.folder, "package.json"), '{"private":true,"type":"module"}');
  mkdirSync(join(user.folder, "src"));
  for (const example of ["effect", "mock", "options", "pay-once", "pay-or-find", "promise"]) {
    cpSync(
      join(checkout, `site/test/examples/${example}.ts`),
      join(user.folder, `src/${example}.ts`),
    );
  }
  await install(tarball);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has no file that does not belong in it", async () => {
  expect(tarballFaults(await filesIn(tarball), checkout.replace(/\/$/, ""))).toEqual([]);
});

it("installs less than 30 MB", () => {
  const files = globSync("node_modules/**", { cwd: user.folder });
  const bytes = files.reduce((sum, file) => sum + statSync(join(user.folder, file)).size, 0);
  expect(bytes).toBeGreaterThan(500_000);
  expect(bytes).toBeLessThan(30_000_000);
});

it("can be bundled as CommonJS, in which esbuild leaves import.meta.url undefined", () => {
  const files = globSync("node_modules/@durable-payments/client/dist/promise/*.js", {
    cwd: user.folder,
  });
  const code = files.map((file) => readFileSync(join(user.folder, file), "utf8"));
  expect(code.join("")).toContain("createClient");
  expect(code.join("")).not.toContain("import.meta.url");
});

it("compiles without Effect's types, and calls the service", async () => {
  await install("--save-dev", ...TYPES);
  await compile("src/promise.ts", "src/options.ts", "src/pay-once.ts", "src/pay-or-find.ts");
  const simulator = await startSimulator();
  onTestFinished(() => simulator.stop());
  const caller = userIn(user.folder, {
    PAYMENTS_BASE_URL: simulator.url,
    PAYMENTS_CLIENT_ID: simulator.clientId,
    PAYMENTS_API_KEY: simulator.apiKey,
  });
  await caller.run("node", "dist/promise.js");
  expect(await caller.run("node", "dist/pay-once.js")).toMatch(/payout \S+ is /);
});

it("is a client for Effect beside Effect, and its errors are of the same classes", async () => {
  await install(...Object.entries(peers).map(([peer, range]) => `${peer}@${range}`));
  writeFileSync(join(user.folder, "src/both.ts"), BOTH);
  await compile("--skipLibCheck", "src/effect.ts", "src/mock.ts", "src/both.ts");
  await user.run("node", "dist/mock.js");
  expect(await user.run("node", "dist/both.js")).toMatch(/^true true InvalidSettings: .*apiKey/);
});
