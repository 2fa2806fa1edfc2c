export { type Cluster, createCluster, type Layout } from "./cluster.ts";
export { createDatabase, DATABASE_USER } from "./database.ts";
export type { ClusterProcess } from "./cluster-process.ts";
export { findPostgres, whyNoPostgres } from "./find-postgres.ts";
export { executableOfCluster, whyNoCluster } from "./why-no-cluster.ts";
export { clusterServer } from "../servers/temporal-servers.ts";
