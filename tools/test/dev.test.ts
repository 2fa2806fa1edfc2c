import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { checkout, spawnProcess, type StartedProcess, untilReady } from "../src/processes.ts";

let dev: StartedProcess | undefined;
afterEach(async () => void (await dev?.kill()));

const startDev = async (): Promise<StartedProcess> => {
  dev = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    join(checkout, "tools/src/dev.ts"),
  ]);
  return dev;
};

/** Awaits a text in what is printed on standard output or error; rejects when the process ends before. */
const printed = (started: StartedProcess, pattern: RegExp): Promise<RegExpExecArray> =>
  untilReady(started, () => pattern.exec(`${started.stdout()}${started.stderr()}`) ?? undefined);

it("leaves the rest up when a part is killed, and says how that part is started again", async () => {
  const started = await startDev();
  const [, id] = await printed(started, /Worker .* \(process (\d+)\)[^]*PAYMENTS_LEDGER/);
  const [, simulator] = await printed(started, /Payment service {2}http:\S+:(\d+)/);
  const [, webUi] = await printed(started, /Web UI +(http:\S+)/);
  // The line that breaks the next payout is for this simulator, whatever its port.
  const [, body, faults] = await printed(
    started,
    / {2}curl --json '(\{.*"createPayout".*\})' -s (http:\S+)\n/,
  );
  expect(faults).toMatch(`:${simulator}/`);
  const headers = { "content-type": "application/json" };
  const ordered = await fetch(String(faults), { method: "POST", headers, body: String(body) });
  expect(ordered.ok).toBe(true);
  const config = spawnProcess(join(checkout, "durable-payments"), ["config", "--json"]);
  await config.exited;
  expect(config.stdout()).toMatch(/"TEMPORAL_ADDRESS"[^}]*dev\.env"/);
  process.kill(Number(id));
  await printed(started, /the rest keeps running\..*\n {2}npm run worker\n/);
  // Temporal's Web UI answers still.
  expect((await fetch(String(webUi))).status).toBe(200);
  started.send("SIGINT");
  expect(await started.exited).toMatchObject({ code: 0 });
  expect(started.stderr()).toContain("Stopped; nothing is left running.");
  await expect(fetch(String(webUi))).rejects.toThrow("fetch failed");
});
