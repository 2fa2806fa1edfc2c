export {
  accessOf,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  serviceVariables,
  startApp,
  startProcess,
  workerVariables,
} from "./apps.ts";
export { sharedBundle } from "./bundles.ts";
export { makeKeyring } from "./keyring.ts";
export {
  createLocalEnvironment,
  createTimeSkippingEnvironment,
  temporalServerVariables,
  whyNoTimeSkipping,
} from "./servers.ts";
