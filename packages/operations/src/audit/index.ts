export { type AuditReport, auditRun } from "./audit.ts";
