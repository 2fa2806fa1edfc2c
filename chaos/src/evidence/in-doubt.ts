import type { World } from "../environment/environment.ts";

/** The workflow ids in a list that the starter printed. */
export const idsIn = (runs: unknown): readonly string[] =>
  (Array.isArray(runs) ? (runs as readonly unknown[]) : []).flatMap((run) =>
    typeof run === "object" && run !== null && "workflowId" in run ? [String(run.workflowId)] : [],
  );

/** Runs that people are told of: they have ended, and what became of a send is not known. */
export const readInDoubt = async (
  { starter }: World,
  over: AbortSignal,
): Promise<ReadonlySet<string>> => {
  const told = await starter.runUntilReached(
    ["runs", "list", "--in-doubt", "--limit", "100000"],
    over,
  );
  return new Set(idsIn(told?.answer["runs"]));
};
