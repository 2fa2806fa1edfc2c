import { messageOf } from "@durable-payments/api-core/values";
import { checkDataConverter, readDataConverter } from "@durable-payments/codec";
import type { WorkerOptions } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";
import type { Environment } from "./worker-process.ts";

type DataConverter = NonNullable<WorkerOptions["dataConverter"]>;

/**
 * The data converter that a worker or a client is given, or else that of the environment.
 *
 * @throws CannotStart where the environment names none that can be used
 */
export const converterOf = (
  given: { readonly dataConverter?: DataConverter; readonly namespace?: string },
  environment: Environment,
): DataConverter | undefined => {
  if (given.dataConverter !== undefined) return given.dataConverter;
  try {
    return readDataConverter(environment, given.namespace ?? "default");
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}.`);
  }
};

/** @throws CannotStart where it cannot encode now: each of the worker's tasks would fail */
export const checkKeys = async (dataConverter: DataConverter = {}): Promise<void> => {
  try {
    await checkDataConverter(dataConverter);
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}.`);
  }
};
