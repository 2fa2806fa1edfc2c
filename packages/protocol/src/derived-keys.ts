import { v5 } from "uuid";

/** Namespace of the keys of this project's runs; changing it would change the keys of all runs. */
const KEYS = "5b5f3c1e-7e0f-5d7b-9d8e-5b0f3f0f3a41";

/**
 * Derives the `unique_request_id` of a step: the same after a retry, on another worker, after a reset and
 * in a new run of the same workflow id.
 *
 * @returns 36 characters, the service's limit.
 */
export const keyOfStep = (workflowId: string, step: string): string =>
  v5(`${workflowId}/${step}`, KEYS);

/**
 * Names what a write makes: the same for two writes that the service's lists could show alike. Names
 * and amounts cannot be read from it.
 */
export const intentOf = (operation: string, fields: ReadonlyArray<string | undefined>): string =>
  v5(JSON.stringify([operation, ...fields]), KEYS);
