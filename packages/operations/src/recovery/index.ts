export { recover, type RecoverOptions, type RecoveryReport } from "./recover.ts";
