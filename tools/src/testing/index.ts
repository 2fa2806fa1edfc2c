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
  type IndependentService,
  type IndependentServiceOptions,
  type LostAnswer,
  startIndependentService,
} from "./independent-service/independent-service.ts";
export {
  createLocalEnvironment,
  createTimeSkippingEnvironment,
  type LocalOptions,
  temporalServerVariables,
  timeSkipping,
} from "./servers.ts";
