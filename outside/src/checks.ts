import { messageOf } from "@durable-payments/api-core/values";
import type { Reporter } from "@durable-payments/tools/command";
import { ExecaError } from "execa";

const shownLines = 25;

/** The results so far. */
export interface Checks {
  /**
   * Tries something, reports it with the time that it took, and counts it.
   *
   * @returns what it returned; undefined if it failed
   */
  readonly check: <A>(what: string, act: () => Promise<A>) => Promise<A | undefined>;
  /** Reports a figure of the last check. */
  readonly note: (text: string) => void;
  readonly counts: () => { readonly passed: number; readonly failed: number };
}

const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH)\b/;

/** The end of what a failed command printed. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof ExecaError)) return messageOf(error);
  const lines = `${error.stdout}\n${error.stderr}`.split("\n").filter((line) => line.trim() !== "");
  const unreachable =
    error.command.startsWith("npm ") && UNREACHABLE.test(lines.join("\n"))
      ? ["The npm registry cannot be reached; nothing can be installed outside without it."]
      : [];
  return [error.shortMessage, ...lines.slice(-shownLines), ...unreachable].join("\n");
};

/** Starts to count. */
export const startChecks = (report: Reporter): Checks => {
  let passed = 0;
  let failed = 0;
  return {
    check: async (what, act) => {
      const started = Date.now();
      const took = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
      try {
        const value = await report.during(`  ${what}`, act());
        passed += 1;
        report.line(`  ✓ ${what} (${took()})`);
        return value;
      } catch (error) {
        failed += 1;
        report.line(`  ✗ ${what} (${took()})\n${reasonOf(error).replaceAll(/^/gm, "      ")}`);
        return undefined;
      }
    },
    note: (text) => report.line(`      ${text}`),
    counts: () => ({ passed, failed }),
  };
};
