import type { ScenarioEntry } from "../scenario.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: ReadonlyArray<ScenarioEntry> = [
  {
    name: "client",
    about: "CPU and requests a second of the client, against undici and stripe",
    load: () => import("./client.ts"),
  },
  {
    name: "client-start",
    about: "import, first response, the first 6,000 requests and bundle size of the client",
    load: () => import("./client-start.ts"),
  },
  {
    name: "throughput",
    about: "runs a second, worker's CPU and replay, against the bare Temporal SDK",
    load: () => import("./throughput.ts"),
  },
  {
    name: "ledger",
    about: "transactions a second of the ledger, against plain commits to a file",
    load: () => import("./ledger.ts"),
  },
  {
    name: "footprint",
    about: "workflow bundle, and heap of a cached run, against the bare Temporal SDK",
    load: () => import("./footprint.ts"),
  },
];
