import { Connection, type ConnectionOptions, isGrpcServiceError } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  chooseLowPort,
  createDatabase,
  type Database,
  DATABASE_USER,
  type ServerProcess,
  untilReady,
  whyNoPostgres,
} from "./postgres.ts";
import { clusterServer, locate, runTool, ServerNotFound } from "./servers.ts";

export { createDatabase, DATABASE_USER, findPostgres, whyNoPostgres } from "./postgres.ts";
export type { ServerProcess as ClusterProcess } from "./postgres.ts";
export { clusterServer } from "./servers.ts";

/** A service of Temporal's server. */
type Service = "frontend" | "internal-frontend" | "history" | "matching" | "worker";

type Ports = { [Name in Service]?: { readonly grpc: number; readonly membership: number } };

/** The services of each process, by its name. */
export type Layout = Readonly<Record<string, ReadonlyArray<Service>>>;

/** Temporal's server on PostgreSQL, in processes of this machine that the caller starts. */
export interface Cluster {
  readonly database: Database;
  /** The processes of the server; each can be killed by itself. */
  readonly servers: ReadonlyArray<ServerProcess>;
  /** The address of each frontend. */
  readonly addresses: readonly [string, ...string[]];
  /**
   * Starts it for the first time: makes its databases, and the namespace `default`.
   *
   * @param start starts one process and waits until it is ready
   */
  readonly start: (start: (one: ServerProcess) => Promise<void>) => Promise<void>;
}

/** How a cluster is made. */
export interface ClusterOptions {
  /** An empty folder for data and configuration. */
  readonly folder: string;
  /** Temporal's server; its tool for SQL databases lies beside it. */
  readonly executable: string;
  /** The number of history shards, which never changes in the life of a database. */
  readonly shards: number;
  /** By default two frontends and two histories, where memory allows. */
  readonly layout?: Layout;
  /** TLS and authorization, as Temporal's configuration has them under `global`. */
  readonly security?: object;
  /** How somebody who may register a namespace reaches a frontend. */
  readonly connection?: Omit<ConnectionOptions, "address">;
}

/** Returns why no cluster can be started here without building anything, or undefined where it can. */
export const whyNoCluster = (): string | undefined => {
  const missing = whyNoPostgres();
  if (missing !== undefined) return missing;
  if (locate(clusterServer) !== undefined) return undefined;
  return `${clusterServer.title} ${clusterServer.version} is not built here (npm run chaos -- --server postgres builds it)`;
};

/**
 * Finds Temporal's server where it is built.
 *
 * @throws ServerNotFound if it is not: see {@link whyNoCluster}
 */
export const executableOfCluster = (): string => {
  const located = locate(clusterServer);
  if (located === undefined) throw new ServerNotFound(whyNoCluster());
  return located.path;
};

const TWO_OF_EACH: Layout = {
  "frontend-a": ["frontend"],
  "frontend-b": ["frontend"],
  "history-a": ["history"],
  "history-b": ["history"],
  matching: ["matching", "worker"],
};
const ONE_PROCESS: Layout = { server: ["frontend", "history", "matching", "worker"] };
/** Each process takes up to 300 MB, and PostgreSQL as much. */
const MEMORY_FOR_TWO = 3 * 2 ** 30;

/** Makes the files of a cluster; nothing runs yet. */
export const createCluster = async ({
  connection,
  executable,
  folder,
  layout = process.availableMemory() < MEMORY_FOR_TWO ? ONE_PROCESS : TWO_OF_EACH,
  security = {},
  shards,
}: ClusterOptions): Promise<Cluster> => {
  const database = await createDatabase(folder);
  const dynamicConfig = join(folder, "dynamic-config.yaml");
  // Trackers, and everybody who looks, ask for lists more than ten times a second.
  const moreLists = { "frontend.namespaceRPS.visibility": [{ value: 100 }] };
  await writeFile(dynamicConfig, JSON.stringify(moreLists));
  await mkdir(join(folder, "config"));

  const placed: Array<{ readonly name: string; readonly ports: Ports }> = [];
  for (const [name, services] of Object.entries(layout)) {
    const ports: Ports = {};
    for (const service of services) {
      ports[service] = { grpc: await chooseLowPort(), membership: await chooseLowPort() };
    }
    placed.push({ name, ports });
  }
  const [first, ...more] = placed.flatMap(({ ports: { frontend } }) =>
    frontend === undefined ? [] : [`127.0.0.1:${frontend.grpc}`],
  );
  if (first === undefined) throw new Error("A cluster needs a frontend.");
  // Each process has to know of every service.
  const anywhere = placed.reduce<Ports>((all, { ports }) => ({ ...all, ...ports }), {});
  const servers = await Promise.all(
    placed.map(async ({ name, ports }): Promise<ServerProcess> => {
      const common = { shards, database, dynamicConfig, security, frontend: first };
      const config = JSON.stringify(serverConfig(common, { ...anywhere, ...ports }));
      await writeFile(join(folder, "config", `${name}.yaml`), config, { mode: 0o600 });
      const services = Object.keys(ports).flatMap((service) => ["--service", service]);
      return {
        name,
        command: executable,
        args: ["--root", folder, "--env", name, "--allow-no-auth", "start", ...services],
        options: { cwd: folder },
        killedBy: "SIGKILL",
        ready: async (started) => {
          for (const [service, health] of Object.entries(HEALTH)) {
            const grpc = ports[service as keyof typeof HEALTH]?.grpc;
            if (grpc === undefined) continue;
            const address = `127.0.0.1:${grpc}`;
            const options = { ...(service === "frontend" && connection), address };
            await withConnection(options, (client) =>
              untilReady(started, () => isServing(client, health)),
            );
          }
        },
      };
    }),
  );
  return {
    database,
    servers,
    addresses: [first, ...more],
    start: async (start) => {
      await start(database.process);
      await createSchemas(executable, database);
      // The first writes the name of the cluster; if two did so at once, one of them would end.
      const [one, ...others] = servers;
      if (one !== undefined) await start(one);
      await Promise.all(others.map(start));
      for (const address of [first, ...more]) {
        await withConnection({ ...connection, address }, async (client) => {
          const until = Date.now() + REGISTER_WITHIN_MS;
          while (!(await isRegistered(client))) {
            if (Date.now() > until) throw new Error(`No namespace could be made at ${address}.`);
            await sleep(REGISTER_EVERY_MS);
          }
        });
      }
    },
  };
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

const createSchemas = async (executable: string, { password, port }: Database) => {
  const tool = join(dirname(executable), "temporal-sql-tool");
  const to = ["--plugin", "postgres12", "--endpoint", "127.0.0.1", "--port", `${port}`];
  for (const [schema, database] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", `postgresql/v12/${schema}`],
    ]) {
      const all = [...to, "--user", DATABASE_USER, "--database", database, ...args];
      await runTool(tool, all, { env: { SQL_PASSWORD: password } });
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
    shards,
  }: {
    readonly database: Database;
    readonly dynamicConfig: string;
    readonly frontend: string;
    readonly security: object;
    readonly shards: number;
  },
  ports: Ports,
): object => {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: "postgres12",
      databaseName,
      connectAddr: `127.0.0.1:${database.port}`,
      connectProtocol: "tcp",
      user: DATABASE_USER,
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
      numHistoryShards: shards,
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
