// Plain JavaScript because bootstrap.mjs uses it too, under any Node >= 20.
import { randomUUID } from "node:crypto";
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const staleAfterMs = 20_000;
const touchEveryMs = 2_000;
const tryEveryMs = 250;

export async function withLock(path, work, onWait) {
  for (let waiting = false; !tryTake(path); waiting = true) {
    if (!waiting) onWait?.();
    takeAwayIfStale(path);
    await sleep(tryEveryMs);
  }
  const release = () => rmSync(path, { force: true });
  const touch = setInterval(() => {
    const now = new Date();
    utimesSync(path, now, now);
  }, touchEveryMs);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    process.off("exit", release);
    release();
  }
}

function tryTake(path) {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Its age counts, not the process id: ids repeat between containers that share a folder. */
function takeAwayIfStale(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs < staleAfterMs) return;
    // Renamed first, so that of several waiting processes only one takes it away.
    const away = `${path}.${randomUUID()}`;
    renameSync(path, away);
    rmSync(away);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
