import {
  clusterServer,
  locate,
  type Server,
  ServerNotFound,
} from "@durable-payments/tools/servers";
import { type Postgres, startPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import { spawnProcess, type StartedProcess, untilReady } from "@durable-payments/tools/processes";
import { Connection, type ConnectionOptions, isGrpcServiceError } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import getPort from "get-port";
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A service of Temporal's server. */
type Service = "frontend" | "internal-frontend" | "history" | "matching" | "worker";

type Ports = { [Name in Service]?: { readonly grpc: number; readonly membership: number } };

/** Temporal's server on PostgreSQL, with the namespace `default`. */
export interface Cluster {
  /** The address of the frontend. */
  readonly address: string;
  readonly database: Postgres;
  readonly server: StartedProcess;
  readonly stop: () => Promise<void>;
}

/** How a cluster is made. */
export interface ClusterOptions {
  /** An empty folder for data and configuration. */
  readonly folder: string;
  /** Default: {@link clusterServer}. */
  readonly version?: Server;
  /** The services that run; by default those that every cluster needs. */
  readonly services?: ReadonlyArray<Service>;
  /** TLS and authorization, as Temporal's configuration has them under `global`. */
  readonly security?: object;
  /** How a client that may register a namespace reaches the frontend. */
  readonly connection?: Omit<ConnectionOptions, "address">;
}

/** Returns why no cluster can be started here without building anything, or undefined if one can. */
export const whyNoCluster = (server: Server = clusterServer): string | undefined => {
  const missing = whyNoPostgres();
  if (missing !== undefined) return missing;
  if (locate(server) !== undefined) return undefined;
  return `${server.title} ${server.version} is not built here (npm run nightly builds it)`;
};

/** The number of history shards, which never changes in the life of a database. */
const SHARDS = 4;
const CONFIGURATION = "server";

const LOWEST_PORT = 10_000;
/** Temporal keeps the ports of its cluster's members as smallint in PostgreSQL. */
const HIGHEST_PORT = 32_767;

const chooseLowPort = (): Promise<number> => {
  const port = Array.from({ length: 100 }, () => randomInt(LOWEST_PORT, HIGHEST_PORT + 1));
  return getPort({ host: "127.0.0.1", reserve: true, port });
};

/**
 * Starts a cluster of this machine.
 *
 * @throws ServerNotFound if Temporal's server is not built: see {@link whyNoCluster}
 */
export const startCluster = async ({
  connection,
  folder,
  security = {},
  services = ["frontend", "history", "matching", "worker"],
  version = clusterServer,
}: ClusterOptions): Promise<Cluster> => {
  const executable = locate(version)?.path;
  if (executable === undefined) throw new ServerNotFound(whyNoCluster(version));
  const dynamicConfig = join(folder, "dynamic-config.yaml");
  const settings = {
    // Trackers and tools ask for lists more than ten times a second.
    "frontend.namespaceRPS.visibility": [{ value: 100 }],
    // Of newer servers; older ones ignore it.
    "frontend.WorkflowPauseEnabled": [{ value: true }],
  };
  await writeFile(dynamicConfig, JSON.stringify(settings));
  await mkdir(join(folder, "config"));
  const ports: Ports = {};
  for (const service of services) {
    ports[service] = { grpc: await chooseLowPort(), membership: await chooseLowPort() };
  }
  const address = `127.0.0.1:${ports.frontend?.grpc}`;
  const database = await startPostgres(folder);
  let server: StartedProcess | undefined;
  const stop = async () => {
    await server?.kill("SIGKILL");
    await database.stop();
  };
  try {
    createSchemas(executable, database);
    const common = { database, dynamicConfig, security, frontend: address };
    const config = JSON.stringify(serverConfig(common, ports));
    await writeFile(join(folder, "config", `${CONFIGURATION}.yaml`), config, { mode: 0o600 });
    const root = ["--root", folder, "--env", CONFIGURATION, "--allow-no-auth", "start"];
    const args = [...root, ...services.flatMap((service) => ["--service", service])];
    server = spawnProcess(executable, args, { name: "temporal", cwd: folder, ownGroup: true });
    await awaitServing(server, ports, connection);
    await withConnection({ ...connection, address }, makeNamespace);
    return { address, database, server, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** The services that are called, and the names by which they are asked whether they serve. */
const HEALTH = {
  frontend: "temporal.api.workflowservice.v1.WorkflowService",
  history: "temporal.api.workflowservice.v1.HistoryService",
  matching: "temporal.api.workflowservice.v1.MatchingService",
} as const;

/** SERVING, of gRPC's health check. */
const SERVING: ReadonlySet<number> = new Set([1]);
/** ALREADY_EXISTS, a status of gRPC. */
const ALREADY_EXISTS: ReadonlySet<number> = new Set([6]);
const CALL_WITHIN_MS = 5_000;
const RETENTION = "3 days";
const REGISTER_EVERY_MS = 100;
const REGISTER_WITHIN_MS = 120_000;

const withConnection = async (
  options: ConnectionOptions,
  use: (connection: Connection) => Promise<void>,
): Promise<void> => {
  const connection = Connection.lazy(options);
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
};

const awaitServing = async (
  server: StartedProcess,
  ports: Ports,
  connection: ClusterOptions["connection"],
): Promise<void> => {
  for (const [service, health] of Object.entries(HEALTH)) {
    const grpc = ports[service as keyof typeof HEALTH]?.grpc;
    if (grpc === undefined) continue;
    const options = { ...(service === "frontend" && connection), address: `127.0.0.1:${grpc}` };
    await withConnection(options, async (client) => {
      await untilReady(server, () => isServing(client, health));
    });
  }
};

const makeNamespace = async (client: Connection): Promise<void> => {
  const until = Date.now() + REGISTER_WITHIN_MS;
  while (!(await isRegistered(client))) {
    if (Date.now() > until) throw new Error("The namespace could not be made.");
    await sleep(REGISTER_EVERY_MS);
  }
};

const call = <A>(connection: Connection, send: () => Promise<A>): Promise<A> =>
  connection.withDeadline(Date.now() + CALL_WITHIN_MS, send);

/** It listens before it serves, which it does once it has read its database. */
const isServing = (connection: Connection, service: string): Promise<boolean> =>
  call(connection, () => connection.healthService.check({ service })).then(
    ({ status }) => SERVING.has(status),
    () => false,
  );

/** Makes the namespace; true once this frontend knows it. */
const isRegistered = async (connection: Connection): Promise<boolean> => {
  const { workflowService } = connection;
  const namespace = "default";
  try {
    await call(connection, () =>
      workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: msToTs(RETENTION),
      }),
    ).catch((error: unknown) => {
      if (!isGrpcServiceError(error) || !ALREADY_EXISTS.has(error.code)) throw error;
    });
    await call(connection, () => workflowService.describeNamespace({ namespace }));
    return true;
  } catch (error) {
    // Not everything runs yet, or this frontend does not know the namespace yet.
    if (isGrpcServiceError(error)) return false;
    throw error;
  }
};

/** The databases, by the names of their schemas. */
const DATABASES = { temporal: "temporal", visibility: "temporal_visibility" } as const;

const createSchemas = (executable: string, { password, port, user }: Postgres) => {
  const tool = join(dirname(executable), "temporal-sql-tool");
  const to = ["--plugin", "postgres12", "--endpoint", "127.0.0.1", "--port", `${port}`];
  for (const [schema, database] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", `postgresql/v12/${schema}`],
    ]) {
      const all = [...to, "--user", user, "--database", database, ...args];
      execFileSync(tool, all, { env: { SQL_PASSWORD: password }, stdio: "pipe" });
    }
  }
};

const STORE_CONNECTIONS = 20;
const VISIBILITY_CONNECTIONS = 10;

/** The configuration of one process of Temporal's server; its files are YAML, which JSON is a part of. */
const serverConfig = (
  {
    database,
    dynamicConfig,
    frontend,
    security,
  }: Readonly<{ database: Postgres; dynamicConfig: string; frontend: string; security: object }>,
  ports: Ports,
): object => {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: "postgres12",
      databaseName,
      connectAddr: `127.0.0.1:${database.port}`,
      connectProtocol: "tcp",
      user: database.user,
      password: database.password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: "1h",
    },
  });
  const noArchival = { history: { state: "disabled" }, visibility: { state: "disabled" } };
  return {
    log: { stdout: true, level: "warn" },
    persistence: {
      numHistoryShards: SHARDS,
      defaultStore: "default",
      visibilityStore: "visibility",
      datastores: {
        default: store(DATABASES.temporal, STORE_CONNECTIONS),
        visibility: store(DATABASES.visibility, VISIBILITY_CONNECTIONS),
      },
    },
    global: {
      membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" },
      ...security,
    },
    services: Object.fromEntries(
      Object.entries(ports).map(([service, { grpc, membership }]) => [
        service,
        { rpc: { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: "active",
      currentClusterName: "active",
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: frontend,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
    archival: noArchival,
    namespaceDefaults: { archival: noArchival },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: "10s" },
  };
};
