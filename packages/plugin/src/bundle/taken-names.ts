import type { BundleOptions } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];
type Plugin = Extract<NonNullable<WebpackConfig["plugins"]>[number], (...given: never) => unknown>;
type Compiler = Parameters<Plugin>[0];
type Compilation = Parameters<Parameters<Compiler["hooks"]["compilation"]["tap"]>[1]>[0];
type Module = Compilation["modules"] extends Set<infer Each> ? Each : never;

const NAME = "durable-payments";

/** After the bundler has read what each module exports. */
const LATE = 1_000;

const requestOf = (dependency: object): unknown =>
  "request" in dependency ? dependency.request : undefined;

/** Where what a module exports by a name is defined: it may pass on what another one exports. */
const definedBy = ({ moduleGraph }: Compilation, module: Module, name: string) => {
  const target = moduleGraph.getExportInfo(module, name).getTarget(moduleGraph);
  return { module: target?.module ?? module, name: target?.export?.join(".") ?? name };
};

const namesOf = ({ moduleGraph }: Compilation, module: Module): ReadonlyArray<string> => {
  const names = moduleGraph.getProvidedExports(module);
  // Of a CommonJS module they are not known before it runs: there the bundle's entry looks.
  return Array.isArray(names) ? names : [];
};

/**
 * Have the bundler refuse workflows that have the name of one of the project's: who starts `payout` must know what
 * runs. What only passes on a workflow of the project has its name rightly.
 *
 * @param ownPath as the generated entry requires the module of a user's workflows.
 * @param definitions as the bundle's entry requires the project's workflows.
 */
export const refuseTakenNames =
  (ownPath: string, definitions: string): Plugin =>
  (compiler) => {
    compiler.hooks.compilation.tap(NAME, (compilation) => {
      compilation.hooks.finishModules.tap({ name: NAME, stage: LATE }, (modules) => {
        const required = new Map<unknown, Module>();
        for (const module of modules) {
          for (const { dependency, module: to } of compilation.moduleGraph.getOutgoingConnections(
            module,
          )) {
            if (dependency) required.set(requestOf(dependency), to);
          }
        }
        const own = required.get(ownPath);
        const ours = required.get(definitions);
        if (own === undefined || ours === undefined || own === ours) return;
        const names = new Set(namesOf(compilation, own));
        const taken = namesOf(compilation, ours).filter((name) => {
          if (!names.has(name)) return false;
          const [one, other] = [own, ours].map((module) => definedBy(compilation, module, name));
          return one?.module !== other?.module || one?.name !== other?.name;
        });
        if (taken.length === 0) return;
        throw new CannotStart(
          `Your workflows have names of workflows of @durable-payments/workflows: ${taken.join(", ")}. Give yours other names.`,
        );
      });
    });
  };
