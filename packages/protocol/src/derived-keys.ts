import { v5 } from "uuid";
import type { HumanTask } from "./human-task.ts";

/** Namespace of the keys of this project's runs; changing it would change the keys of all runs. */
const KEYS = "5b5f3c1e-7e0f-5d7b-9d8e-5b0f3f0f3a41";

/**
 * Derive the `unique_request_id` of a step: the same after a retry, on another worker, after a reset and
 * in a new run of the same workflow id.
 *
 * @returns 36 characters, the service's limit.
 */
export const keyOfStep = (workflowId: string, step: string): string =>
  v5(`${workflowId}/${step}`, KEYS);

/**
 * Name what a write makes: the same for two writes that the service's lists could show alike. Names
 * and amounts cannot be read from it.
 */
export const intentOf = (operation: string, fields: ReadonlyArray<string | undefined>): string =>
  v5(JSON.stringify([operation, ...fields]), KEYS);

/** Namespace of the ids of human tasks. */
const TASKS = "0a6c1b1e-9f6e-5b8e-8f0a-3d1d2c7b9e54";

/**
 * Derive the id of a human task from its number in the run and all that it says, its time among it: a run
 * that was reset asks anew, under another id, unless it is the task in its history.
 */
export const questionOf = (
  workflowId: string,
  number: number,
  asked: Omit<HumanTask, "question">,
): string => `${number}-${v5(JSON.stringify([workflowId, number, asked]), TASKS).slice(0, 8)}`;
