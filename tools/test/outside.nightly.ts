// The packages as their users have them: packed, installed in an empty folder outside of this checkout, on two versions of Node.
// oxlint-disable vitest/expect-expect, vitest/no-conditional-tests -- a command that fails rejects; one version does more
import { isRecord } from "@durable-payments/client/values";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CLIENT, PUBLISHED, readManifest } from "../src/packages/manifests.ts";
import { packPackages, useTarballs } from "../src/packages/pack.ts";
import { awaitReadyLine, checkout, type StartedProcess } from "../src/processes.ts";
import { locate, temporalCli, testServer } from "../src/servers.ts";
import { filesIn, peerFaults, tarballFaults, unpacked } from "./support/tarball.ts";
import { nodePackage, type User, userIn } from "./support/user.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** The servers that are set up: a user with another home has none. */
const servers = Object.fromEntries(
  [temporalCli, testServer].flatMap((server) => {
    const located = locate(server);
    return located === undefined ? [] : [[server.variable, located.path]];
  }),
);
const { peers, ...published } = readManifest(PUBLISHED);
const entries = [...readManifest(CLIENT).entries, ...published.entries];

/** The lowest versions import every entry and make one payment; the newest do everything. */
const LEGS = [
  { title: "the oldest Node, lowest versions", node: "~22.19", typescript: "5.9", isLowest: true },
  { title: "this Node, newest versions", node: undefined, typescript: "*", isLowest: false },
];

/** The files of the docs and of a new project, so that everything shown is tried. */
const PROJECT = {
  "tools/test/support/outside-project": ".",
  "examples/payout.json": "payout.json",
  "packages/create/template/src": "src",
  "packages/durable-payments/test/examples": "test",
};

/** Packages that share what they keep: a second copy of one would be another library. */
const ONCE =
  /(?:^|\/)node_modules\/(effect|@effect\/[^/]+|@temporalio\/[^/]+|durable-payments|@durable-payments\/client)$/;

const INSTALL = "install --no-audit --no-fund --loglevel=error --fetch-retries=1".split(" ");
// One file after the other in one process: they share the workflow bundle.
const TEST = "run --testTimeout=60000 --no-file-parallelism --no-isolate".split(" ");

let folder: string;
let tarballs: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "durable-payments-outside-"));
  tarballs = await packPackages([CLIENT, PUBLISHED, "packages/create"], folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has no file that does not belong in it, and none that names the folder of the build", async () => {
  for (const tarball of Object.values(tarballs)) {
    const files = await filesIn(tarball);
    expect(files.size).toBeGreaterThan(5);
    expect(tarballFaults(files, checkout.replace(/\/$/, ""))).toEqual([]);
  }
});

it("requires no peer that one entry alone needs, and names every package that an entry needs", async () => {
  const packed = Object.fromEntries(
    await Promise.all(
      [CLIENT, PUBLISHED].map(async (place) => {
        const { name } = readManifest(place);
        return [name, await unpacked(tarballs[name] ?? "")] as const;
      }),
    ),
  );
  for (const place of [CLIENT, PUBLISHED])
    expect(peerFaults(readManifest(place), packed)).toEqual([]);
});

/** The tarballs, and the peers of all entries. */
const dependenciesOf = ({ isLowest, node, typescript }: (typeof LEGS)[number]) => ({
  ...Object.fromEntries(
    Object.entries(peers).map(([name, range]) => [
      name,
      isLowest ? range.replace(/^(?:[~^]|>=)/, "") : range,
    ]),
  ),
  ...Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`])),
  ...(node !== undefined && { [nodePackage]: node }),
  typescript,
  "@types/node": "^22.0.0",
  // The declarations of Temporal's SDK need those of `ms`, which it does not bring.
  "@types/ms": "*",
});

/** Writes two files that load every entry, one of them by `require`. */
const writeEntries = (project: string): void => {
  const names = entries.map(({ name }) => name);
  // It awaits Vitest, and so can only be imported.
  const required = names.filter((name) => !name.endsWith("/testing"));
  const used = (all: ReadonlyArray<string>) =>
    `console.log(${all.map((_, index) => `Object.keys(entry${index}).length`).join(" + ")});\n`;
  const imports = names.map((name, index) => `import * as entry${index} from "${name}";\n`);
  const requires = required.map((name, index) => `import entry${index} = require("${name}");\n`);
  writeFileSync(join(project, "src/entries.ts"), imports.join("") + used(names));
  writeFileSync(join(project, "src/required.cts"), requires.join("") + used(required));
};

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

const endsWell = async (worker: StartedProcess): Promise<void> => {
  const exit = await worker.kill("SIGTERM");
  expect({ exit, stderr: worker.stderr() }).toMatchObject({ exit: { code: 0 } });
};

describe.each(LEGS)("$title", { concurrent: false }, (leg) => {
  const key = `invoice-${randomUUID()}`;
  const id = `payInvoice/${key}`;
  const isWhole = !leg.isLowest;
  const started: Array<StartedProcess> = [];
  let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
  let service: string;
  let worker: StartedProcess;
  /** Before and after the variables of the worker and the command line are known. */
  let installer: User;
  let user: User;

  const start = (by: User, command: string, ...args: ReadonlyArray<string>): StartedProcess => {
    const process = by.start(command, ...args);
    started.push(process);
    return process;
  };
  const cli = (...args: ReadonlyArray<string>) => user.run("durable-payments", ...args);
  const payWith = async (one: string, ...args: ReadonlyArray<string>): Promise<void> => {
    await cli("pay", "payout.json", "--id", one, "--yes", "--json", ...args);
    await cli("show", one, "--follow", "--exit-status");
  };
  const paid = async (): Promise<ReadonlyArray<unknown>> => {
    const state: unknown = await (await fetch(`${service}/_simulator/state`)).json();
    const payouts: unknown = isRecord(state) ? state["payouts"] : undefined;
    return Array.isArray(payouts)
      ? payouts.map((payout) => isRecord(payout) && payout["payout_status"])
      : [];
  };

  // A task queue belongs to one account: a server on which nothing else works.
  beforeAll(async () => {
    temporal = await createLocalEnvironment();
    installer = userIn(mkdtempSync(join(folder, "leg-")), servers);
    const dependencies = dependenciesOf(leg);
    const manifest = { name: "outside", private: true, type: "module", dependencies };
    writeFileSync(join(installer.folder, "package.json"), JSON.stringify(manifest));
    await installer.run("npm", ...INSTALL);
    for (const [from, to] of Object.entries(PROJECT)) {
      cpSync(join(checkout, from), join(installer.folder, to), { recursive: true });
    }
    writeEntries(installer.folder);
  });
  afterAll(async () => {
    for (const process of started.toReversed()) await process.kill("SIGKILL");
    await temporal?.teardown();
  });

  it("has each package once where it matters", async () => {
    const lock = readJson(join(installer.folder, "node_modules/.package-lock.json"));
    const paths = Object.keys(isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {});
    const copies = Map.groupBy(paths, (path) => ONCE.exec(path)?.[1]);
    copies.delete(undefined);
    expect(copies.size).toBeGreaterThan(5);
    expect([...copies.values()].filter(({ length }) => length > 1)).toEqual([]);
    await installer.run("npm", "ls", "--all");
  });

  it("compiles with NodeNext; every entry is imported, and all but testing are required", async () => {
    await installer.run("tsc", "--skipLibCheck", String(leg.isLowest));
    await installer.run("node", "dist/entries.js");
    await installer.run("node", "dist/required.cjs");
  });

  it("pays by an own workflow, exactly once", async () => {
    const simulated = ["--port", "0", "--json", "--settle-after", "0 seconds"];
    const ready = await awaitReadyLine(
      start(installer, "durable-payments", "simulator", ...simulated),
    );
    service = String(ready["url"]);
    user = userIn(installer.folder, {
      TEMPORAL_ADDRESS: temporal.address,
      PAYMENTS_BASE_URL: service,
      PAYMENTS_CLIENT_ID: String(ready["clientId"]),
      PAYMENTS_API_KEY: String(ready["apiKey"]),
      PAYMENTS_LEDGER: `sqlite:${join(installer.folder, "ledger.sqlite")}`,
      PAYMENTS_PERSON: "ada",
    });
    worker = start(user, "node", "src/worker.ts");
    await user.run("node", "src/pay.ts", key);
    expect(await paid()).toEqual(["completed"]);
  });

  if (isWhole) {
    it("pays by the command line, which shows that all is well", async () => {
      await payWith(`payout-${key}`);
      expect(await paid()).toEqual(["completed", "completed"]);
      await cli("show", id, "--exit-status", "--json");
      await cli("show", id, "--log", "--verify");
      await cli("doctor");
    });

    it("finds that all is well by a program with a plain API key", async () => {
      const program = [
        'import { openPayments } from "durable-payments/start";',
        "const payments = await openPayments({ apiKey: process.env.PAYMENTS_API_KEY });",
        "const { isWell, checks } = await payments.doctor();",
        "await payments[Symbol.asyncDispose]();",
        "if (!isWell) throw new Error(JSON.stringify(checks));",
      ];
      writeFileSync(join(user.folder, "doctor.mjs"), program.join("\n"));
      await user.run("node", "doctor.mjs");
    });

    it("replays a run, and shows the line of changed code", async () => {
      const inFolder = (file: string) => join(user.folder, file);
      const replay = ["replay", id, "--workflows"];
      await cli(...replay, "src/workflows.ts");
      const source = readFileSync(inFolder("src/workflows.ts"), "utf8");
      const oneMore = source.replace("const { beneficiary_id }", 'await sleep("1 second");\n$&');
      const changed = `import { sleep } from "@temporalio/workflow";\n${oneMore}`;
      writeFileSync(inFolder("src/changed.ts"), changed);
      await expect(cli(...replay, "src/changed.ts")).rejects.toThrow(/src\/changed\.ts:\d/);
    });
  }

  it("drains on SIGTERM", () => endsWell(worker));

  if (!isWhole) return;

  it("pays and drains by the packaged worker", async () => {
    const packaged = start(user, "durable-payments", "worker");
    await payWith(randomUUID(), "--not-a-duplicate", "another test");
    await endsWell(packaged);
  });

  it("compiles with Bundler resolution, and passes the tests of the docs", async () => {
    await installer.run("tsc", "--project", "tsconfig.bundler.json");
    await installer.run("vitest", ...TEST);
  });

  it("creates a project, whose tests pass", async () => {
    const created = userIn(join(folder, "created"), servers);
    await installer.run("create-durable-payments", created.folder);
    const { "create-durable-payments": _, ...used } = tarballs;
    await useTarballs(created.folder, used);
    await created.run("npm", ...INSTALL);
    await created.run("npm", "run", "typecheck");
    await created.run("vitest", ...TEST);
  });
});
