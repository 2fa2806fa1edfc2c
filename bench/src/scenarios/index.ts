import type { ScenarioEntry } from "../scenario.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: ReadonlyArray<ScenarioEntry> = [
  {
    name: "client",
    about: "CPU and requests a second of the client, against HTTP clients and stripe",
    load: () => import("./client.ts"),
  },
  {
    name: "client-start",
    about: "import, first response, the first 6,000 requests and bundle size of the client",
    load: () => import("./client-start.ts"),
  },
  {
    name: "throughput",
    about: "runs a second, and events replayed a second, against the bare Temporal SDK",
    load: () => import("./throughput.ts"),
  },
  {
    name: "journal",
    about: "payouts a second with the journal in a file, against none",
    load: () => import("./journal.ts"),
  },
  {
    name: "encryption",
    about: "payouts a second whose payloads are encrypted, against the same that are not",
    load: () => import("./encryption.ts"),
  },
  {
    name: "footprint",
    about: "workflow bundle, and heap of a cached run, against the bare Temporal SDK",
    load: () => import("./footprint.ts"),
  },
  {
    name: "install",
    about: "size and number of packages in an empty folder, against stripe and the bare SDK",
    load: () => import("./install.ts"),
  },
  {
    name: "interactive",
    about: "a payout that a person starts, beside a batch of 1,000 and 10,000",
    load: () => import("./interactive.ts"),
  },
  {
    name: "start",
    about: "seconds to --help and a started run over bare Node; worker to polling",
    load: () => import("./start.ts"),
  },
  {
    name: "waiting",
    about: "payouts that wait, against the same payouts that do not",
    load: () => import("./waiting.ts"),
  },
];
