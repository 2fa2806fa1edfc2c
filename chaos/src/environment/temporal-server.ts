import type { PlannedRestart, SupervisedProcess } from "./supervised-process.ts";

/** Which Temporal server a chaos run has: the dev server on SQLite, or a cluster on PostgreSQL. */
export const SERVERS = ["dev", "postgres"] as const;

/** One of them. */
export type ServerKind = (typeof SERVERS)[number];

/** The Temporal server of a chaos run, of one process or of several. */
export interface TemporalServer {
  /** The addresses of its frontends; each of the two workers has one. */
  readonly addresses: readonly [string, ...string[]];
  /** What can be killed by itself, the rest running on. */
  readonly parts: readonly SupervisedProcess[];
  /** Its database, where that is a process. */
  readonly database?: SupervisedProcess;
  readonly crashes: readonly string[];
  readonly start: () => Promise<void>;
  readonly whenReady: (signal: AbortSignal) => Promise<void>;
  /** End all of the server by a signal, and have it started again; false where it was not running. */
  readonly restart: (killSignal: NodeJS.Signals, planned: PlannedRestart) => Promise<boolean>;
  /** Copy the database while it is in use; false where that is not possible now. */
  readonly copyDatabase: () => Promise<boolean>;
  /** Put the copy in the place of the database, while the server is down. */
  readonly putBackDatabase: () => Promise<void>;
  readonly end: () => Promise<void>;
}
