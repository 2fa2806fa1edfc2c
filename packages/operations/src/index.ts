export {
  ConnectionFailed,
  EndedByPerson,
  InvalidInput,
  isOperationError,
  NotFound,
  Refused,
  type NextOperation,
  type OperationError,
} from "./errors.ts";
export * from "./connection/index.ts";
export * from "./input/index.ts";
export * from "./pause/index.ts";
export * from "./history/index.ts";
export * from "./runs/index.ts";
export * from "./start/index.ts";
export * from "./timeline/index.ts";
export * from "./retry/index.ts";
export * from "./decisions/index.ts";
export * from "./ending/index.ts";
export * from "./audit/index.ts";
export * from "./batch/index.ts";
export * from "./recovery/index.ts";
export * from "./replay/index.ts";
export * from "./doctor/index.ts";
export * from "./notifications/index.ts";
