import { messageOf } from "@durable-payments/api-core/values";
import { mkdir } from "node:fs/promises";
import { recordFiles } from "../integrity.mjs";
import { withLock } from "../lock.mjs";
import type { Reporter } from "../command/progress.ts";
import { cacheFolder, fillAtomically } from "./server-cache.ts";
import { cachedFolder, locate, type Located, ServerNotFound } from "./locate-server.ts";
import type { Server } from "./server.ts";

/**
 * Find the server, or install it into the per-user cache. Of several processes at once one installs it,
 * the others wait.
 *
 * @throws ServerNotFound with each way that was tried and why it failed.
 */
export const ensureServer = async (
  server: Server,
  report: Reporter,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Located> => {
  const located = locate(server, env);
  if (located !== undefined) return located;
  await mkdir(cacheFolder(env), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new ServerNotFound(
      `The cache folder cannot be made (${messageOf(error)}): set XDG_CACHE_HOME to a folder that can be written.`,
    );
  });
  const lock = `${cachedFolder(server, env)}.lock`;
  return await withLock(
    lock,
    async () => locate(server, env) ?? (await install(server, report, env)),
    () =>
      report.line(`Another process is installing the ${server.title}: waiting for it (${lock}) …`),
  );
};

const install = async (
  server: Server,
  report: Reporter,
  env: NodeJS.ProcessEnv,
): Promise<Located> => {
  const failures = [
    `${server.variable}: not set`,
    `PATH: no ${server.command}`,
    `cache: nothing in ${cachedFolder(server, env)}`,
  ];
  for (const installer of server.installers) {
    try {
      await fillAtomically(cachedFolder(server, env), async (folder) => {
        await installer.install(server, folder, report);
        recordFiles(folder);
      });
      const located = locate(server, env);
      if (located !== undefined) return { path: located.path, from: installer.name };
      failures.push(`${installer.name}: it left no ${server.command}`);
    } catch (error) {
      failures.push(`${installer.name}: ${messageOf(error)}`);
      report.line(`  ${installer.name} did not work: ${messageOf(error)}`);
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
