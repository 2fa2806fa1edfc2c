import type { WorkerOptions } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";
import type { Environment } from "../settings/worker-process.ts";

/** Temporal joins name and build id by a dot or a colon, which the name may therefore not hold. */
const NAME = /^(?!__)[^\s.:]{1,100}$/;
const BUILD_ID = /^(?!__)[^\s:]{1,100}$/;

/** What Temporal's worker controller for Kubernetes sets; it counts where ours are not set. */
const OF_CONTROLLER = { name: "TEMPORAL_DEPLOYMENT_NAME", buildId: "TEMPORAL_WORKER_BUILD_ID" };

const valueOf = (
  environment: Environment,
  variable: string,
  pattern: RegExp,
  what: string,
): string | undefined => {
  const value = environment[variable]?.trim() ?? "";
  if (value === "") return undefined;
  if (pattern.test(value)) return value;
  throw new CannotStart(`${variable} must be ${what}, with no space and not beginning with __.`);
};

/**
 * Read the version of the deployment that a worker belongs to from the environment; none where
 * neither variable is set, and where the worker has options of its own: then these count alone.
 *
 * @throws CannotStart
 */
export const deploymentFromEnvironment = (
  { workerDeploymentOptions }: Pick<WorkerOptions, "workerDeploymentOptions">,
  environment: Environment,
): Pick<WorkerOptions, "workerDeploymentOptions"> => {
  if (workerDeploymentOptions !== undefined) return {};
  const ours = { name: "PAYMENTS_DEPLOYMENT_NAME", buildId: "PAYMENTS_BUILD_ID" };
  const isOurs = Object.values(ours).some((variable) => environment[variable]?.trim());
  const variables = isOurs ? ours : OF_CONTROLLER;
  const deploymentName = valueOf(
    environment,
    variables.name,
    NAME,
    "up to 100 characters without dots and colons",
  );
  const buildId = valueOf(
    environment,
    variables.buildId,
    BUILD_ID,
    "up to 100 characters without colons",
  );
  if (deploymentName === undefined && buildId === undefined) return {};
  if (deploymentName === undefined || buildId === undefined) {
    throw new CannotStart(
      `${variables.name} and ${variables.buildId} belong together: set both, or neither.`,
    );
  }
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      // Payouts wait for weeks: pinned, each would keep the workers of its first version alive as long. The workflows do
      // not say it themselves: the server refuses a task in which a worker without a version names a behavior.
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  };
};
