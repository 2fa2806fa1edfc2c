import type { Reporter } from "../command/progress.ts";

/** One way to install a server: puts it into `folder`, or throws an error with the reason. */
export interface Installer {
  /** What a person reads when it fails. */
  readonly name: string;
  readonly install: (server: Server, folder: string, report: Reporter) => Promise<void>;
}

/** A Temporal server that runs on this machine, and where it comes from. */
export interface Server {
  readonly title: string;
  readonly kind: "dev-server" | "time-skipping" | "cluster" | "web-ui";
  /** The environment variable that names the executable; it overrides all else. */
  readonly variable: string;
  /** The name under which it is looked for on the PATH, and which it has in the cache. */
  readonly command: string;
  /** The pinned version, without "v". */
  readonly version: string;
  /** How it is installed when it is not there, in this order. */
  readonly installers: readonly Installer[];
}
