import type { ProcessOptions, StartedProcess } from "../processes/spawn-process.ts";

/** What a stack runs beside the Temporal server. */
export const OPTIONAL_PARTS = ["simulator", "worker"] as const;

/** One of them. */
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

/** A process of the stack that ended while the stack was in use. */
export interface EndedPart {
  readonly part: "temporal" | OptionalPart;
  /** How it ended, and where its log is. */
  readonly what: string;
  /** The last lines that it printed. */
  readonly lastLines: string;
  /** The command that starts it again with the same data, where it is a process of a cluster. */
  readonly command?: string;
}

/** Ends a process of the stack, or does what is to be done after that. */
export type Ending = () => Promise<unknown>;

/** Start a process that ends with the stack: by `killedBy`, or by SIGTERM. */
export type Spawn = (
  name: string,
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
  options?: Pick<ProcessOptions, "cwd" | "user"> & { readonly killedBy?: NodeJS.Signals },
) => StartedProcess;

/** A process of the stack, and the part that it is, or is of. */
export interface RunningPart extends Pick<EndedPart, "part" | "command"> {
  readonly process: StartedProcess;
}
