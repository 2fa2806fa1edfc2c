export { ensureServer } from "../servers/ensure-server.ts";
export { temporalCli, testServer } from "../servers/temporal-servers.ts";
export { choosePort } from "./ports.ts";
export { withoutServiceVariables } from "./service-variables.ts";
export { awaitTemporalServer, temporalServerArguments } from "./temporal-server.ts";
