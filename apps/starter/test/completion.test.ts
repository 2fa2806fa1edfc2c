// The script in a real bash, with the command line as a process: it has to be on the PATH there, as for a user.
import { limitsId, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { runCli } from "./support/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "starter-completion-"));
afterAll(() => rmSync(folder, { recursive: true }));

const place = `sqlite:${join(folder, "ledger.sqlite")}` as const;
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const start = { by: "ada", how: "--by", value: { type: "payout", content: "c" } };

beforeAll(async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  for (const workflowId of ["invoice-1", "invoice-2", "order:3", "$(touch planted) 4"]) {
    const run = { account: "a", workflowId, runId: null, type: "payout", batch: null };
    const pays = { batchRow: null, amount: "1.00", currency: "EUR", payee: "b-1", reference: null };
    await ledger.recordStart({ ...run, ...pays }, start);
  }
  await ledger.close();
  const command = `#!/bin/sh\nexec "${process.execPath}" --conditions=@durable-payments/source "${main}" "$@"\n`;
  writeFileSync(join(folder, "durable-payments"), command, { mode: 0o700 });
});

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("PAYMENTS_LEDGER", place);
  return () => vi.unstubAllEnvs();
});

const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await runCli("completion", shell);
    expect(code).toBe(0);
    scripts.set(shell, stdout);
  }
});

/** Completes the last word as bash does when its user presses Tab. */
const completed = (words: ReadonlyArray<string>) => {
  const press = `
    source ./script.bash
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
    _durable_payments "$1" "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  writeFileSync(join(folder, "script.bash"), scripts.get("bash") ?? "");
  const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder, PAYMENTS_LEDGER: place };
  const line = ["-c", press, "bash", "durable-payments", ...words];
  const { stderr, stdout } = spawnSync("bash", line, { cwd: folder, encoding: "utf8", env });
  return { stderr, words: stdout.split("\n").filter(Boolean) };
};

it.each([
  [["li"], ["list", "limits"]],
  [["work"], ["worker"]],
  [["ledger", "mi"], ["migrate"]],
  [["list", "--group-by", "pa"], ["payee"]],
  [["show", "--fol"], ["--follow"]],
  [["simulator", "--settle"], ["--settle-after"]],
  [["completion", "z"], ["zsh"]],
  [["pay", "script."], ["script.bash"]],
  [["retry", "--amend", "script."], ["script.bash"]],
  [["list", "--status", "succ"], ["succeeded"]],
  [["list", "--no-"], ["--no-pager"]],
])("completes commands, flags and values: %j", (words, expected) => {
  expect(completed(words)).toEqual({ stderr: "", words: expected });
});

it("completes the ids of open runs, where a command takes one", () => {
  expect(completed(["retry", "--dry-run", "inv"])).toEqual({
    stderr: "",
    words: expect.toSatisfy(
      (words: Array<string>) => words.toSorted().join() === "invoice-1,invoice-2",
    ),
  });
  expect(completed(["pay", "inv"]).words).toEqual([]);
});

const idsFor = async (command: string) => {
  const { code, stderr, stdout } = await runCli("completion", "ids", command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean).toSorted();
};

it("offers no id that is more than one word for a shell", async () => {
  expect(await idsFor("show")).toEqual(["invoice-1", "invoice-2", "order:3"]);
});

it("offers for a decision what waits for it in the inbox", async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  const actor = { by: "ada", how: "--by", reason: "audit" };
  for (const amount of ["1.00", "2.00"])
    await ledger.setLimits("a", { maxAmounts: { EUR: amount }, approveAbove: {} }, actor);
  await ledger.close();
  expect(await idsFor("approve")).toEqual([limitsId("a")]);
  expect(await idsFor("answer")).toEqual([]);
});

it.each([`sqlite:${join(folder, "none.sqlite")}`, "nonsense", undefined])(
  "is silent without a ledger: %s",
  async (ledger) => {
    vi.stubEnv("PAYMENTS_LEDGER", ledger);
    expect(await idsFor("show")).toEqual([]);
  },
);

it("gives up on a ledger that does not answer", async () => {
  const silent = createServer();
  await once(silent.listen(0, "127.0.0.1"), "listening");
  const { port } = silent.address() as AddressInfo;
  const args = ["--conditions=@durable-payments/source", main, "completion", "ids", "show"];
  const env = { ...process.env, PAYMENTS_LEDGER: `postgres://a:b@127.0.0.1:${port}/c` };
  const { stderr, stdout } = await promisify(execFile)(process.execPath, args, { env });
  silent.close();
  expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "" });
});

it.each(["bash", "zsh", "fish"])("is a script that %s can read", (shell) => {
  const script = scripts.get(shell) ?? "";
  expect(script).not.toContain("IDS-OF");
  expect(script).toContain("completion ids show");
  const { error, status } = spawnSync(shell, ["-n"], { input: script });
  // A shell that is not installed has nothing to say.
  expect(error === undefined ? status : 0).toBe(0);
});
