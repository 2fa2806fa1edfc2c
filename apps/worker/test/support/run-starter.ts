import { runApp } from "@durable-payments/tools/testing";
import { expect } from "vitest";

/** Runs a command of the starter, which has to succeed, and gives what it prints as JSON. */
export const runStarter = async (
  args: ReadonlyArray<string>,
  variables: NodeJS.ProcessEnv,
): Promise<unknown> => {
  const { exitCode, stderr, stdout } = await runApp("starter", [...args, "--json"], variables);
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
};
