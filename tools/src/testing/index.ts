export {
  createLocalEnvironment,
  type LocalOptions,
  createTimeSkippingEnvironment,
  temporalServerVariables,
  type TimeSkipping,
  timeSkipping,
} from "./environments.ts";
export {
  type EndedProcess,
  type ReadyProcess,
  runApp,
  runProcess,
  startApp,
  startProcess,
} from "./start-process.ts";
export { testedAppArguments } from "./tested-app.ts";
export { accessOf, serviceVariables, workerVariables } from "./worker-variables.ts";
export { makeTestFolder, type TestFolder } from "./test-folder.ts";
export { runTemporalCli } from "./temporal-cli.ts";
export {
  type IndependentService,
  type IndependentServiceOptions,
  type LostAnswer,
  startIndependentService,
} from "./independent-service/independent-service.ts";
