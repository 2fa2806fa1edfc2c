import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Connection, type ConnectionOptions, isGrpcServiceError } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { orEnd } from "../processes/await-ready.ts";
import { runTool } from "../servers/run-tool.ts";
import { type ClusterProcess, ENOUGH_MS, repeatedly } from "./cluster-process.ts";
import { createDatabase, type Database, DATABASE_USER } from "./database.ts";
import { chooseLowPort } from "./low-port.ts";
import {
  DATABASES,
  dynamicConfig,
  type Ports,
  serverConfig,
  type Service,
} from "./server-config.ts";

/** Temporal's server on PostgreSQL, in processes of this machine that the caller starts. */
export interface Cluster {
  readonly database: Database;
  /** The processes of the server; each can be killed by itself. */
  readonly servers: readonly ClusterProcess[];
  /** The address of each frontend. */
  readonly addresses: readonly [string, ...string[]];
  /**
   * Start it for the first time, make its databases, and the namespace `default`
   * workflows.
   *
   * @param start starts one process and waits until it is ready
   */
  readonly start: (start: (one: ClusterProcess) => Promise<void>) => Promise<void>;
}

/** The services of each process, by its name. */
export type Layout = Readonly<Record<string, readonly Service[]>>;

/** How a cluster is made. */
export interface ClusterOptions {
  /** An empty folder for data and configuration. */
  readonly folder: string;
  /** Temporal's server; its tool for SQL databases lies beside it. */
  readonly executable: string;
  /** The number of history shards, which never changes in the life of a database. */
  readonly shards: number;
  /** The port of the first frontend; a free one by default. */
  readonly port?: number;
  /** By default two frontends and two histories, where memory allows. */
  readonly layout?: Layout;
  /** TLS and authorisation, as Temporal's configuration has them under `global`. */
  readonly security?: object;
  /** How somebody who may register a namespace reaches a frontend. */
  readonly connection?: Omit<ConnectionOptions, "address">;
}

/** As many as Temporal's own charts set up. */
export const DEFAULT_SHARDS = 512;

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

/** The services that are called, and the names by which they are asked whether they serve. */
const SERVING = ["frontend", "history", "matching"] as const;
const HEALTH = {
  frontend: "temporal.api.workflowservice.v1.WorkflowService",
  history: "temporal.api.workflowservice.v1.HistoryService",
  matching: "temporal.api.workflowservice.v1.MatchingService",
} as const;

/** gRPC's health check. */
const SERVED: ReadonlySet<number> = new Set([1]);

const NAMESPACE = "default";
const RETENTION = "3 days";
/** gRPC's status. */
const ALREADY_EXISTS: ReadonlySet<number> = new Set([6]);
const CALL_WITHIN_MS = 5_000;

/** Make the files of a cluster; nothing runs yet. */
export const createCluster = async ({
  connection,
  executable,
  folder,
  layout = process.availableMemory() < MEMORY_FOR_TWO ? ONE_PROCESS : TWO_OF_EACH,
  port,
  security,
  shards,
}: ClusterOptions): Promise<Cluster> => {
  const sqlTool = join(dirname(executable), "temporal-sql-tool");
  await access(sqlTool);
  const database = await createDatabase(folder);
  const dynamicConfigFile = join(folder, "dynamic-config.yaml");
  await writeFile(dynamicConfigFile, JSON.stringify(dynamicConfig));
  await mkdir(join(folder, "config"));

  const placed: Array<{ readonly name: string; readonly ports: Ports }> = [];
  for (const [name, services] of Object.entries(layout)) {
    const ports: Ports = {};
    for (const service of services) {
      const isFirst = service === "frontend" && !placed.some((one) => one.ports.frontend);
      const grpc = (isFirst ? port : undefined) ?? (await chooseLowPort());
      ports[service] = { grpc, membership: await chooseLowPort() };
    }
    placed.push({ name, ports });
  }
  const [first, ...more] = placed.flatMap(({ ports: { frontend } }) =>
    frontend === undefined ? [] : [`127.0.0.1:${frontend.grpc}`],
  );
  if (first === undefined) throw new Error("A cluster needs a frontend.");
  const addresses = [first, ...more] as const;
  // Each process has to know of every service.
  const anywhere = placed.reduce<Ports>((all, { ports }) => ({ ...all, ...ports }), {});
  const common = { shards, database, dynamicConfigFile, ...(security && { security }) };

  const servers = await Promise.all(
    placed.map(async ({ name, ports }): Promise<ClusterProcess> => {
      const config = JSON.stringify(serverConfig(common, { ...anywhere, ...ports }, first));
      await writeFile(join(folder, "config", `${name}.yaml`), config, { mode: 0o600 });
      const services = Object.keys(ports).flatMap((service) => ["--service", service]);
      return {
        name,
        command: executable,
        args: ["--root", folder, "--env", name, "--allow-no-auth", "start", ...services],
        options: { cwd: folder },
        killedBy: "SIGKILL",
        ready: async (started) => {
          for (const service of SERVING) {
            const grpc = ports[service]?.grpc;
            if (grpc === undefined) continue;
            const options = {
              ...(service === "frontend" && connection),
              address: `127.0.0.1:${grpc}`,
            };
            await withConnection(options, (client) =>
              repeatedly(
                () => isServing(client, HEALTH[service]),
                (serving) => orEnd(started, serving, ENOUGH_MS),
              ),
            );
          }
        },
      };
    }),
  );

  const createSchemas = async () => {
    const to = ["--plugin", "postgres12", "--endpoint", "127.0.0.1", "--port", `${database.port}`];
    const sql = (name: string, ...args: string[]) =>
      runTool(sqlTool, [...to, "--user", DATABASE_USER, "--database", name, ...args], {
        missing: `${sqlTool} is not there any more`,
        env: { SQL_PASSWORD: database.password },
      });
    for (const [schema, name] of [
      ["temporal", DATABASES.default],
      ["visibility", DATABASES.visibility],
    ] as const) {
      await sql(name, "create-database");
      await sql(name, "setup-schema", "--version", "0.0");
      await sql(name, "update-schema", "--schema-name", `postgresql/v12/${schema}`);
    }
  };
  const register = async (address: string) =>
    await withConnection({ ...connection, address }, (client) =>
      repeatedly(
        () => registerAt(client),
        (registered) => within(registered, `The namespace could not be made at ${address}.`),
      ),
    );
  return {
    database,
    servers,
    addresses,
    start: async (start) => {
      await start(database.process);
      await createSchemas();
      // The first writes what the cluster is called; two at once would both do so, and one of them end.
      const [one, ...others] = servers;
      if (one !== undefined) await start(one);
      await Promise.all(others.map(start));
      for (const address of addresses) await register(address);
    },
  };
};

/** It listens before it serves, which it does once it has read its database. */
const isServing = async (connection: Connection, service: string): Promise<boolean> => {
  try {
    const { status } = await connection.withDeadline(Date.now() + CALL_WITHIN_MS, () =>
      connection.healthService.check({ service }),
    );
    return SERVED.has(status);
  } catch {
    return false;
  }
};

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

/** Makes the namespace; true once this frontend knows it. */
const registerAt = async (connection: Connection): Promise<boolean> => {
  const call = async <A>(send: () => Promise<A>): Promise<A> =>
    await connection.withDeadline(Date.now() + CALL_WITHIN_MS, send);
  try {
    await call(() =>
      connection.workflowService.registerNamespace({
        namespace: NAMESPACE,
        workflowExecutionRetentionPeriod: msToTs(RETENTION),
      }),
    ).catch((error: unknown) => {
      if (!isGrpcServiceError(error) || !ALREADY_EXISTS.has(error.code)) throw error;
    });
    await call(() => connection.workflowService.describeNamespace({ namespace: NAMESPACE }));
    return true;
  } catch (error) {
    // Not everything runs yet, or this frontend does not know the namespace yet.
    if (isGrpcServiceError(error)) return false;
    throw error;
  }
};

const within = async (done: Promise<void>, otherwise: string): Promise<void> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(otherwise)), ENOUGH_MS);
  try {
    await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
};
