// Loaded by Temporal's SDK, by its path, into workers, clients and the workflow sandbox.
import { DefaultFailureConverter } from "@temporalio/common";

/** Puts the messages and stacks of failures where payload codecs encrypt them; the server sees "Encoded failure". */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
