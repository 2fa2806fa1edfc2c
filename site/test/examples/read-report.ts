import { reportRun, temporalSettings, withTemporal } from "@durable-payments/operations";

const report = await withTemporal(temporalSettings(process.env), (temporal) =>
  reportRun(temporal, "invoice-2026-001"),
);
console.log(report.state, report.stage);
