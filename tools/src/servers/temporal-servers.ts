import { buildServerModule } from "./build-server-module.ts";
import { downloadWithSdk } from "./download-with-sdk.ts";
import { buildWithGo } from "./build-with-go.ts";
import { fetchWithMaven } from "./fetch-with-maven.ts";
import type { Server } from "./server.ts";

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

/** The server of a cluster, of the version that the dev server holds, with its tool for SQL databases beside it. */
export const clusterServer: Server = {
  title: "Temporal server",
  kind: "cluster",
  variable: "TEMPORAL_SERVER_PATH",
  command: "temporal-server",
  version: "1.29.1",
  installers: [
    buildServerModule({
      path: "go.temporal.io/server",
      sum: "h1:sgiMveg/8e51lA62pWb9VzC5WTRitKFyT6XsjonHUhE=",
      programs: { "temporal-server": "./cmd/server", "temporal-sql-tool": "./cmd/tools/sql" },
    }),
  ],
};

/** Temporal's Web UI by itself, of the version that the dev server holds. */
export const webUiServer: Server = {
  title: "Temporal Web UI",
  kind: "web-ui",
  variable: "TEMPORAL_UI_SERVER_PATH",
  command: "temporal-ui-server",
  version: "2.42.1",
  installers: [
    buildServerModule({
      path: "github.com/temporalio/ui-server/v2",
      sum: "h1:ajeOxqCnUiCRQQhQYLxaT7wUgF/slqZJtdW4pLjVqCs=",
      programs: { "temporal-ui-server": "./cmd/server" },
    }),
  ],
};
