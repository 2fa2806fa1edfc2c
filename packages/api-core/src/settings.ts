/** The settings of a client: their schemas, their checks, their variables. They load Effect's Schema. */
export { makeAssumptions } from "./contract/make-assumptions.ts";
export { faultsOf } from "./contract/rules.ts";
export {
  clientSettingNames,
  clientVariables,
  makeClientOptions,
  writtenSettings,
} from "./client/config.ts";
