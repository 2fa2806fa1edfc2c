export type { LostSend } from "./ask-service.ts";
export {
  type LostRun,
  mayResume,
  recover,
  type RecoveredAccount,
  type RecoverOptions,
  type Recovery,
  type RecoveryPhase,
} from "./recover.ts";
