import * as fc from "fast-check";

/** Every run tries the same cases; another seed tries others. */
const SEED = Number(process.env["PROPERTY_SEED"] ?? 20_261_121);

fc.configureGlobal({ seed: SEED });

export { fc };
