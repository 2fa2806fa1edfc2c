import { extname, join } from "node:path";
import {
  bundleWorkflowCode,
  type BundleOptions,
  type BundlerPlugin,
  DefaultLogger,
  type WorkflowBundle,
} from "@temporalio/worker";

/** The faults in a report of webpack, each on one line: its place, and the problem; a compiler shows the place below. */
const faultsIn = (report: string): ReadonlyArray<string> =>
  report
    .split(/^(?=ERROR in )/m)
    .filter((part) => part.startsWith("ERROR in "))
    .map((part) => {
      const [, file = ""] = /^ERROR in (.*)/.exec(part) ?? [];
      const [, problem = "it cannot be compiled"] = /\bError: *(?:[x×] )?(.+)/.exec(part) ?? [];
      const [, place = file] = /(?:,-|╭─)\[(.+)\]/.exec(part) ?? [];
      return `${place}: ${problem}`;
    });

/** The workflows cannot be bundled; the message has the faults of their sources. */
export class CannotBundle extends Error {
  override readonly name = "CannotBundle";
}

/** `.ts` in a checkout that runs from its sources, `.js` if the package is built or installed. */
const extension = extname(import.meta.filename);

/** It is in the folder of this file, as a source or built as this one is. */
const recorder = join(import.meta.dirname, `recorder${extension}`);

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];
type Rule = NonNullable<NonNullable<WebpackConfig["module"]>["rules"]>[number];

/**
 * Source maps are read for the project's own code only. A map of an installed package would give its frames the path of a
 * source. That source may be missing, and its path no longer says that the package is installed.
 */
const ofOwnCode = (rule: Rule): Rule =>
  typeof rule === "object" && rule?.enforce === "pre" ? { ...rule, exclude: /node_modules/ } : rule;

/**
 * Bundle workflows from their sources as they are now, with what a replay needs to show where they
 * differ from a history.
 *
 * @param workflowsPath module that exports the workflows
 * @param plugins those with which the worker's bundle is made
 * @returns the bundle, for `replayHistories`.
 * @throws CannotBundle
 */
export const bundleForReplay = async (
  workflowsPath: string,
  plugins: ReadonlyArray<BundlerPlugin> = [],
): Promise<WorkflowBundle> => {
  const faults: Array<string> = [];
  try {
    return await bundleWorkflowCode({
      workflowsPath,
      plugins: [...plugins],
      workflowInterceptorModules: [recorder],
      webpackConfigHook: (config) => ({
        ...config,
        module: { ...config.module, rules: config.module?.rules?.map(ofOwnCode) ?? [] },
      }),
      // The bundler reports each build, with all its modules; only faults and warnings are of interest.
      logger: new DefaultLogger("WARN", ({ level, message }) => {
        if (level === "ERROR") faults.push(...faultsIn(message));
        else process.stderr.write(`${message}\n`);
      }),
    });
  } catch (cause) {
    const [fault = cause instanceof Error ? cause.message : String(cause), ...more] = faults;
    throw new CannotBundle([fault, ...more].join("; "), { cause });
  }
};
