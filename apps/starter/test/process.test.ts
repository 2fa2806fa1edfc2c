// Exit codes, signals and pipes, as a shell sees them: each through a real process.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { runApp } from "@durable-payments/tools/testing";
import {
  appArguments,
  checkout,
  spawnProcess,
  untilReady,
} from "@durable-payments/tools/processes";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.ts";
import { batchOf, runOf, START } from "./support/recorded.ts";

const folder = mkdtempSync(join(tmpdir(), "starter-process-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "ledger.sqlite");
const place = `sqlite:${file}` as const;

// Nothing listens at port 9.
const env = {
  HOME: folder,
  PAYMENTS_LEDGER: place,
  PAYMENTS_CLIENT_ID: undefined,
  PAYMENTS_PERSON: undefined,
  TEMPORAL_ADDRESS: "127.0.0.1:9",
};

/** More lines than a pipe holds. */
const PAYOUTS = 1_500;

beforeAll(async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  const payment = { amount: "0.10", currency: "EUR", payee: "b-1", reference: "Invoice" };
  for (let number = 1; number <= PAYOUTS; number++)
    await ledger.recordStart(runOf(`invoice-${number}`, payment), START);
  const end = { workflowId: "invoice-1", runId: null, endState: "failed", endedAt: 1 } as const;
  await ledger.recordEnds([{ ...end, endType: "NotFunded", endReason: "no funds" }]);
  await ledger.saveBatch("payouts/broken", () => batchOf("payouts/broken", "a.csv"));
  await ledger.close();
  const database = new DatabaseSync(file);
  database.exec("UPDATE batches SET details = '{'");
  database.close();
});

const BY = ["--by", "ada", "--reason", "audit"];

it.each([
  ["done", ["list", "--limit", "1"]],
  ["runFailed", ["show", "invoice-1", "--exit-status"]],
  ["badInput", ["list", "--nope"]],
  ["badInput", ["pause", ...BY]],
  ["stillOpen", ["show", "invoice-2", "--exit-status"]],
  // Temporal may have it, and cannot be asked.
  ["cannotConnect", ["show", "nothing"]],
  ["notFound", ["approve", "nothing", "--hash", "0".repeat(32), "--by", "ada"]],
  ["refused", ["approve", "invoice-2", "--hash", "0".repeat(32), "--by", "ada"]],
  ["notFound", ["pause", "nothing", ...BY]],
  ["refused", ["resume", ...BY]],
  ["unexpected", ["show", "payouts/broken"]],
] as const)("exits as the docs say: %s, %j", async (name, args) => {
  const { exitCode, stderr } = await runApp("starter", [...args, "--json"], env);
  expect({ exitCode, stderr }).toEqual({ exitCode: EXIT_CODES[name], stderr: "" });
});

it("exits as the docs say: cannotConnect", async () => {
  const away = { ...env, PAYMENTS_LEDGER: `sqlite:${join(folder, "none.sqlite")}` };
  const { exitCode } = await runApp("starter", ["inbox", "--json"], away);
  expect(exitCode).toBe(EXIT_CODES.cannotConnect);
});

it.each(["worker", "simulator", "codec-server"])(
  "refuses an option that %s lacks",
  async (name) => {
    const { exitCode } = await runApp("starter", [name, "--bogus"], env);
    expect(exitCode).toBe(EXIT_CODES.badInput);
  },
);

it("refuses a ledger that no setting can mean", async () => {
  const { exitCode, stderr } = await runApp("starter", ["list"], {
    ...env,
    PAYMENTS_LEDGER: "foo:bar",
  });
  expect({ exitCode, stderr }).toEqual({
    exitCode: EXIT_CODES.badInput,
    stderr: expect.stringContaining("PAYMENTS_LEDGER must be"),
  });
});

it("says at once that Temporal does not answer, and follows on", async () => {
  const ended = await interrupted(
    /Temporal at 127[^]*[Ff]ollowing/,
    "show",
    "invoice-2",
    "--follow",
  );
  expect(ended.stderr).toMatch(/Following continues\./);
});

it.each([
  [["--env-file", join(folder, "none.env")], "none.env cannot be read (ENOENT)"],
  [["--profile", "nosuch"], 'has no profile "nosuch"'],
])("refuses another installation that does not exist: %j", async (words, why) => {
  for (const command of ["list", "worker"]) {
    const running = started(join(checkout, "durable-payments"), [command, ...words]);
    const { code } = await running.exited;
    expect({ command, code, stderr: running.stderr().replaceAll(/\s+/g, " ") }).toEqual({
      command,
      code: EXIT_CODES.badInput,
      stderr: expect.stringContaining(why),
    });
  }
});

const started = (command: string, args: ReadonlyArray<string>) =>
  spawnProcess(command, args, { env });

/** Interrupts a command as soon as it has said something, as Ctrl-C does. */
const interrupted = async (said: RegExp, ...args: ReadonlyArray<string>) => {
  const running = started(process.execPath, appArguments("starter", args));
  await untilReady(running, () => said.test(running.stderr()));
  const { code } = await running.kill("SIGINT");
  return { code, stdout: running.stdout(), stderr: running.stderr() };
};

it("says on Ctrl-C that the run which it follows continues", async () => {
  const ended = await interrupted(/running/, "show", "invoice-2", "--follow");
  expect(ended).toMatchObject({ code: EXIT_CODES.interrupted, stdout: "" });
  expect(ended.stderr).toContain("the run continues");
});

it("says on Ctrl-C which checks were not made", async () => {
  const connected = Promise.withResolvers<void>();
  // A service that never answers.
  const service = createServer(() => connected.resolve()).listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => void service.close());
  const { port } = service.address() as AddressInfo;
  const access = { PAYMENTS_BASE_URL: `http://127.0.0.1:${port}`, PAYMENTS_API_KEY: "key" };
  const words = appArguments("starter", ["doctor"]);
  const running = spawnProcess(process.execPath, words, {
    env: { ...env, ...access, PAYMENTS_CLIENT_ID: "client" },
  });
  await connected.promise;
  const { code } = await running.kill("SIGINT");
  expect({ code, stdout: running.stdout() }).toEqual({ code: 130, stdout: "" });
  expect(running.stderr()).toMatch(
    /^Interrupted\. (?:Done: [^]+\. )?The other checks were not made\./m,
  );
});

it.each([["--csv"], ["--jsonl"], []])(
  "ends quietly if its reader closes the pipe: list %s",
  async (...flags) => {
    const words = [
      process.execPath,
      ...appArguments("starter", ["list", "--limit", "5000", ...flags]),
    ];
    const running = started("sh", ["-c", '"$@" | head -n 1', "sh", ...words]);
    const { code } = await running.exited;
    expect({ code, stderr: running.stderr() }).toEqual({ code: 0, stderr: "" });
    expect(running.stdout().trimEnd().split("\n")).toHaveLength(1);
  },
);
