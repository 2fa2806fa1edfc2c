export {
  createLocalEnvironment,
  createTimeSkippingEnvironment,
  type TimeSkipping,
  timeSkipping,
} from "./environments.ts";
export {
  type EndedProcess,
  type ReadyProcess,
  runApp,
  startApp,
  startProcess,
} from "./start-process.ts";
export { runTemporalCli } from "./temporal-cli.ts";
