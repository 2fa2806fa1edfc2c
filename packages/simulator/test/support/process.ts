import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Target } from "./raw-client.ts";

const main = fileURLToPath(new URL("../../../../apps/starter/src/main.ts", import.meta.url));

/** The simulator as a separate process, at most as long as the test; its output is kept. */
export const run = (args: ReadonlyArray<string>) => {
  const child = spawn(
    process.execPath,
    ["--conditions=@durable-payments/source", main, "simulator", ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code, signal]: Array<unknown>) => ({
    ...output,
    code,
    signal,
  }));
  return { child, output, ended };
};

/** The same, once it listens on a free port. */
export const runListening = async (
  args: ReadonlyArray<string> = [],
): Promise<{
  readonly target: Target;
  readonly child: ChildProcess;
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<{ code: unknown; signal: unknown; stdout: string; stderr: string }>;
}> => {
  const { child, ended, output } = run(["--port", "0", "--json", ...args]);
  await Promise.race([
    once(child.stdout, "data"),
    ended.then(({ stderr }) => {
      throw new Error(stderr);
    }),
  ]);
  const target = JSON.parse(output.stdout) as Target;
  return { target, child, output, ended };
};
