import {
  connectTemporal,
  onTemporal,
  reportRun,
  temporalSettings,
} from "@durable-payments/operations";

const kept = await connectTemporal(temporalSettings(process.env));
const report = await onTemporal(kept, (temporal) => reportRun(temporal, "invoice-2026-001"));
console.log(report.state);
await kept.connection.close();
