import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { executableName } from "./locate-server.ts";
import type { Installer } from "./server.ts";

const connectWithinMs = 8_000;
const stalledAfterMs = 30_000;
const pollEveryMs = 500;

/**
 * Download a server by the SDK. Its download has no time limit, so it runs in a process that is ended when
 * no byte has come for a while.
 */
export const downloadWithSdk: Installer = {
  name: "download",
  install: async (server, folder, report) => {
    const script = fileURLToPath(new URL("download-process.ts", import.meta.url));
    const controller = new AbortController();
    // The packages need not be built yet.
    const node = ["--conditions=@durable-payments/source", script];
    const child = execa(process.execPath, [...node, server.kind, folder, `v${server.version}`], {
      cancelSignal: controller.signal,
      forceKillAfterDelay: 1000,
      reject: false,
      stdin: "ignore",
      stdout: "ignore",
    });
    let size = -1;
    let silentSince = Date.now();
    const watch = setInterval(() => {
      void bytesIn(folder).then((now) => {
        if (now > size) silentSince = Date.now();
        size = Math.max(size, now);
        const silenceMs = size < 0 ? connectWithinMs : stalledAfterMs;
        if (Date.now() - silentSince > silenceMs) controller.abort();
      });
    }, pollEveryMs);
    const result = await report
      .during(`Downloading the ${server.title} ${server.version}`, child)
      .finally(() => clearInterval(watch));
    if (result.isCanceled) {
      throw new Error(
        size < 0
          ? `no answer from temporal.download within ${connectWithinMs / 1000} s`
          : `stalled: nothing came for ${stalledAfterMs / 1000} s`,
      );
    }
    if (result.failed) throw new Error(result.stderr.trim() || result.shortMessage);
    const [file] = await readdir(folder);
    if (file === undefined) throw new Error("it left no file");
    await rename(join(folder, file), join(folder, executableName(server)));
  },
};

/** The bytes that have arrived; -1 before the transfer has begun. */
const bytesIn = async (folder: string): Promise<number> => {
  const [file] = await readdir(folder).catch(() => []);
  if (file === undefined) return -1;
  return await stat(join(folder, file)).then(
    ({ size }) => size,
    () => 0,
  );
};
