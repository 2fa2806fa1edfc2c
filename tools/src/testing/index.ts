export {
  accessOf,
  type EndedProcess,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  runProcess,
  serviceVariables,
  startApp,
  startProcess,
  type TestFolder,
  workerVariables,
} from "./apps.ts";
export { sharedBundle } from "./bundles.ts";
export {
  createLocalEnvironment,
  createTimeSkippingEnvironment,
  type LocalOptions,
  temporalServerVariables,
  timeSkipping,
} from "./servers.ts";
