import { downloadWithSdk } from "./download-with-sdk.ts";
import { buildWithGo } from "./build-with-go.ts";
import { fetchWithMaven } from "./fetch-with-maven.ts";
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
  readonly kind: "dev-server" | "time-skipping";
  /** The environment variable that names the executable; it overrides all else. */
  readonly variable: string;
  /** The name under which it is looked for on the PATH, and which it has in the cache. */
  readonly command: string;
  /** The pinned version, without "v". */
  readonly version: string;
  /** How it is installed when it is not there, in this order. */
  readonly installers: readonly Installer[];
}

/** The dev server: Temporal's CLI, which holds the whole server and its Web UI. */
export const temporalCli: Server = {
  title: "Temporal CLI",
  kind: "dev-server",
  variable: "TEMPORAL_CLI_PATH",
  command: "temporal",
  version: "1.5.1",
  installers: [downloadWithSdk, buildWithGo],
};

/** The test server that skips waiting times. */
export const testServer: Server = {
  title: "Temporal time-skipping test server",
  kind: "time-skipping",
  variable: "TEMPORAL_TEST_SERVER_PATH",
  command: "temporal-test-server",
  version: "1.38.0",
  installers: [downloadWithSdk, fetchWithMaven],
};
