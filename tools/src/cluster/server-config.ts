import { DATABASE_USER } from "./database.ts";

/** A service of Temporal's server. */
export type Service = "frontend" | "internal-frontend" | "history" | "matching" | "worker";

/** The ports of services. */
export type Ports = {
  [Name in Service]?: { readonly grpc: number; readonly membership: number };
};

/** What the processes of a cluster have in common. */
interface CommonConfig {
  readonly shards: number;
  readonly database: { readonly port: number; readonly password: string };
  readonly dynamicConfigFile: string;
  /** TLS and authorisation, as Temporal's configuration has them under `global`. */
  readonly security?: object;
}

/** The names of both databases. */
export const DATABASES = { default: "temporal", visibility: "temporal_visibility" } as const;

const STORE_CONNECTIONS = 20;
const VISIBILITY_CONNECTIONS = 10;

/**
 * The configuration of one process of Temporal's server, whose files are YAML, of which JSON is a part.
 *
 * @param ports of every service; its own of those that it runs
 * @param frontend the address of one
 */
export const serverConfig = (
  { database, dynamicConfigFile, security, shards }: CommonConfig,
  ports: Ports,
  frontend: string,
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
  return {
    log: { stdout: true, level: "warn" },
    persistence: {
      numHistoryShards: shards,
      defaultStore: "default",
      visibilityStore: "visibility",
      datastores: {
        default: store(DATABASES.default, STORE_CONNECTIONS),
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
    archival: { history: { state: "disabled" }, visibility: { state: "disabled" } },
    namespaceDefaults: {
      archival: { history: { state: "disabled" }, visibility: { state: "disabled" } },
    },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: "10s" },
  };
};

/** What differs from Temporal's defaults. */
export const dynamicConfig = {
  // Lists are asked for more than ten times a second: by trackers, and by everybody who looks.
  "frontend.namespaceRPS.visibility": [{ value: 100 }],
};
