import { Runtime } from "@temporalio/worker";

Runtime.install({ telemetryOptions: { logging: { filter: "ERROR", forward: {} } } });
