/*
 * Finds the Temporal servers of development and tests, or installs them.
 *
 * Many networks block one of the sources. So each server has several ways, tried in order: the SDK's download, a build
 * with Go, or jars from Maven Central. Files in the cache are executed: no other user may write there, and pinned hashes
 * are checked.
 */
import { messageOf } from "@durable-payments/client/values";
import {
  cachedFolder,
  isExecutable,
  locate,
  type Located,
  type ServerFile,
  ServerNotFound,
  TEST_SERVERS,
} from "@durable-payments/protocol/server-files";
import { execa } from "execa";
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Reporter } from "./command.ts";

export { cachedFolder, locate, ServerNotFound } from "@durable-payments/protocol/server-files";

/** Puts a server into a folder, or throws the reason why it cannot. */
export type Installer = (server: Server, folder: string, report: Reporter) => Promise<void>;

/** A Temporal server that runs on this machine. */
export interface Server extends ServerFile {
  /** The ways to install it, in this order, by the names that a person reads when one fails. */
  readonly installers: Readonly<Record<string, Installer>>;
}

/** Fills a new folder, and renames it when it is complete: no process sees half of it, and the first of two wins. */
const fillAtomically = async (
  target: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> => {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(dirname(target), ".partial-"));
  try {
    await fill(folder);
    await rename(folder, target).catch((error: unknown) => {
      // A full folder cannot be replaced: another process was first, and its folder is complete.
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Finds a server, or installs it into the per-user cache.
 *
 * @throws ServerNotFound with each way that was tried and why it failed
 */
export const ensureServer = async (
  server: Server,
  report: Reporter,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Located> => {
  const located = locate(server, env);
  if (located !== undefined) return located;
  const folder = cachedFolder(server, env);
  const failures = [`${server.variable}, PATH and cache (${folder}): not there`];
  for (const [name, install] of Object.entries(server.installers)) {
    try {
      await fillAtomically(folder, (partial) => install(server, partial, report));
      const installed = locate(server, env);
      if (installed !== undefined) return { path: installed.path, from: name };
      failures.push(`${name}: it left no ${server.command}`);
    } catch (error) {
      failures.push(`${name}: ${messageOf(error)}`);
      report.line(`  ${name} did not work: ${messageOf(error)}`);
    }
  }
  throw new ServerNotFound(
    [
      `The ${server.title} ${server.version} could not be installed. Tried in this order:`,
      ...failures.map((failure, index) => `  ${index + 1}. ${failure}`),
      `Repair one of them, or install it yourself and set ${server.variable} to its path.`,
    ].join("\n"),
  );
};

/** Runs a command of the machine; its error has what the command printed. */
const runTool = async (command: string, args: ReadonlyArray<string>, cwd: string) =>
  (await execa(command, args, { cwd, stdin: "ignore" })).stdout;

const ANSWER_WITHIN_MS = 8_000;

/** Starting the server once shows that it runs here. */
const DOWNLOAD = `
import { TestWorkflowEnvironment } from "@temporalio/testing";
const [create, downloadDir, version] = process.argv.slice(1);
const server = { executable: { type: "cached-download", downloadDir, version } };
await (await TestWorkflowEnvironment[create]({ server })).teardown();`;

/** Lets the SDK download a server, in a process of its own: its download has no time limit. */
const download =
  (create: "createLocal" | "createTimeSkipping"): Installer =>
  async ({ command, title, version }, folder, report) => {
    const args = ["--input-type=module", "--eval", DOWNLOAD, create, folder, `v${version}`];
    const cwd = import.meta.dirname;
    const child = execa(process.execPath, args, { cwd, reject: false, stdin: "ignore" });
    const unanswered = setTimeout(() => {
      if (readdirSync(folder).length === 0) child.kill("SIGKILL");
    }, ANSWER_WITHIN_MS);
    const { failed, stderr } = await report
      .during(`Downloading the ${title} ${version}`, child)
      .finally(() => clearTimeout(unanswered));
    if (failed) {
      const why = /Error: (.*)/.exec(stderr)?.[1];
      throw new Error(why ?? `no answer within ${ANSWER_WITHIN_MS / 1000} s`);
    }
    const [file = ""] = readdirSync(folder);
    await rename(join(folder, file), join(folder, command));
  };

/** Where Go's instructions put it, leaving the PATH to the user (https://go.dev/doc/install). */
const INSTALLED_GO = "/usr/local/go/bin/go";

/** Builds programs from a Go module, in its own folder, so that its go.sum holds for all of its dependencies. */
const buildWithGo =
  (module: {
    readonly path: string;
    /** As Go's checksum database has it: "h1:…". */
    readonly sum: string;
    /** The folder of each program, by its name in the cache. */
    readonly programs: Readonly<Record<string, string>>;
  }): Installer =>
  async ({ title, version }, folder, report) => {
    const go = isExecutable(INSTALLED_GO) ? INSTALLED_GO : "go";
    const build = async () => {
      const args = ["mod", "download", "-json", `${module.path}@v${version}`];
      const found = JSON.parse(await runTool(go, args, folder)) as {
        readonly Sum: string;
        readonly Dir: string;
      };
      if (found.Sum !== module.sum) {
        throw new Error(`${module.path}@v${version} has the sum ${found.Sum}, not ${module.sum}`);
      }
      for (const [name, main] of Object.entries(module.programs)) {
        await runTool(go, ["build", "-trimpath", "-o", join(folder, name), main], found.Dir);
      }
    };
    await report.during(`Building the ${title} ${version} with Go, once (minutes)`, build());
  };

/**
 * Checks that a folder holds the jars whose SHA-256 are pinned, whatever a repository serves, and no others.
 *
 * @throws Error that names what differs
 */
export const checkJars = ({ command, version }: Server, folder: string): void => {
  const file = new URL(`${command}-${version}.sha256`, import.meta.url);
  const pinned = readFileSync(file, "utf8").trimEnd().split("\n");
  const found = readdirSync(folder).map(
    (jar) => `${hash("sha256", readFileSync(join(folder, jar)))}  ${jar}`,
  );
  const missing = pinned.filter((line) => !found.includes(line));
  const others = found.filter((line) => !pinned.includes(line));
  if (missing.length + others.length > 0) {
    const lines = [...missing, ...others].join("\n     ");
    throw new Error(`the jars are not those whose SHA-256 are pinned:\n     ${lines}`);
  }
};

/** Fetches the test server as a Java program; needs only Maven Central. */
const fetchWithMaven: Installer = async (server, folder, report) => {
  const fileOf = (kind: string) => join(import.meta.dirname, `${server.command}.${kind}`);
  const lib = join(folder, "lib");
  const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
  const args = ["-B", "-q", "-Dstyle.color=never", "-f", fileOf("pom.xml"), goal];
  args.push(`-Dserver.version=${server.version}`, `-DoutputDirectory=${lib}`);
  await report.during(
    `Fetching the ${server.title} ${server.version} with Maven, once (about 20 s)`,
    runTool("mvn", [...args, "-DincludeScope=runtime"], folder),
  );
  checkJars(server, lib);
  await copyFile(fileOf("sh"), join(folder, server.command));
};

/** The dev server: Temporal's CLI, which holds the whole server and its Web UI. */
export const temporalCli: Server = {
  ...TEST_SERVERS.dev,
  installers: {
    download: download("createLocal"),
    "go build": buildWithGo({
      path: "github.com/temporalio/cli",
      sum: "h1:0RZMk14BWxz44Xg6ciDQvpfAMffoG3J7/K03ql80teY=",
      programs: { temporal: "./cmd/temporal" },
    }),
  },
};

/** The test server that skips waiting times. */
export const testServer: Server = {
  ...TEST_SERVERS["time-skipping"],
  installers: { download: download("createTimeSkipping"), "Maven and Java": fetchWithMaven },
};

/** The server of a cluster, with its tool for SQL databases. */
const temporalServer = (variable: string, version: string, sum: string): Server => ({
  title: "Temporal server",
  variable,
  command: "temporal-server",
  version,
  installers: {
    "go build": buildWithGo({
      path: "go.temporal.io/server",
      sum,
      programs: { "temporal-server": "./cmd/server", "temporal-sql-tool": "./cmd/tools/sql" },
    }),
  },
});

/** The server of a cluster, of the version that the dev server contains. */
export const clusterServer = temporalServer(
  "TEMPORAL_SERVER_PATH",
  "1.29.1",
  "h1:sgiMveg/8e51lA62pWb9VzC5WTRitKFyT6XsjonHUhE=",
);

/** The latest version that is tested. */
export const latestServer = temporalServer(
  "TEMPORAL_LATEST_SERVER_PATH",
  "1.32.0",
  "h1:JQoqsVREaGc8vcuDNfuRlySiV3tVi81XUOVC9LeL/1Y=",
);

/** Finds or installs a server. If it cannot be installed, the problem is returned, not thrown. */
export const setUp = (
  server: Server,
  report: Reporter,
): Promise<Partial<Located> & { readonly problem?: string }> =>
  ensureServer(server, report).catch((error: unknown) => {
    if (error instanceof ServerNotFound) return { problem: error.message };
    throw error;
  });
