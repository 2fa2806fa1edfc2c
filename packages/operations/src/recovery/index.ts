export { recover, type RecoverOptions, type RecoveryReport } from "./recover.ts";
export { backUpLedger, pruneLedger } from "./ledger-upkeep.ts";
