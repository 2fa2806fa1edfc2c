import { createDatabase, DATABASE_USER, whyNoPostgres } from "@durable-payments/tools/cluster";
import { spawnProcess } from "@durable-payments/tools/processes";
import { execFileSync } from "node:child_process";
import type { ScenarioContext } from "../scenario.ts";
import { temporaryFolder } from "./world.ts";

/** Debian's package, where this process may install it. */
const install = (progress: (text: string) => void): void => {
  if (process.getuid?.() !== 0) return;
  progress("installing PostgreSQL by apt-get");
  const apt = (...args: ReadonlyArray<string>) =>
    execFileSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] });
  apt("update");
  apt("install", "--yes", "--no-install-recommends", "postgresql");
};

/**
 * Starts PostgreSQL with an empty database for a ledger; it ends with the scenario.
 *
 * @returns what `PAYMENTS_LEDGER` is set to; undefined where it is not installed, and not asked for.
 * @throws Error where it is asked for, and cannot run here.
 */
export const startPostgres = async ({
  defer,
  needsPostgres,
  progress,
}: ScenarioContext): Promise<string | undefined> => {
  if (needsPostgres && whyNoPostgres() !== undefined) install(progress);
  const missing = whyNoPostgres();
  if (missing !== undefined && needsPostgres) throw new Error(missing);
  if (missing !== undefined) {
    progress(`without PostgreSQL: ${missing}`);
    return undefined;
  }
  const { password, port, process: server } = await createDatabase(await temporaryFolder(defer));
  const { args, command, killedBy, name, options, ready } = server;
  const started = spawnProcess(command, args, { name, ownGroup: true, ...options });
  defer(() => started.kill(killedBy));
  await ready(started);
  return `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`;
};
