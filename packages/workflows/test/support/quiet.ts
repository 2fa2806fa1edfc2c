import { DefaultLogger } from "@temporalio/worker";

/** The bundler reports each build; only what goes wrong is of interest. */
export const quiet = new DefaultLogger("ERROR");
