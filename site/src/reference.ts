import { PUBLISHED, readManifest } from "@durable-payments/tools/packages";
import { join } from "node:path";
import { Application, type TypeDocOptions } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";

/**
 * Writes the reference of the public entries as Markdown, from their docstrings.
 *
 * @param checkout folder of the repository
 * @param target folder
 * @throws Error if TypeDoc could not write it; TypeDoc has printed the reason
 */
export const writeReference = async (checkout: string, folder: string): Promise<void> => {
  const options: TypeDocOptions & PluginOptions = {
    name: "API",
    out: folder,
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: readManifest(PUBLISHED).entries.map(({ source }) => join(checkout, source)),
    tsconfig: join(checkout, "site/tsconfig.reference.json"),
    basePath: join(checkout, "packages"),
    readme: "none",
    excludeExternals: true,
    excludePrivate: true,
    disableSources: true,
    // `npm run check` has checked the types.
    skipErrorChecking: true,
    logLevel: "Error",
    entryFileName: "index",
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
  };
  const app = await Application.bootstrapWithPlugins(options);
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc found no entries.");
  // The name of its import, not of its file.
  for (const entry of project.children ?? []) {
    const file = entry.name.split("/").at(-1) ?? "";
    entry.name = file === "index" ? "durable-payments" : `durable-payments/${file}`;
  }
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error("TypeDoc could not write the reference.");
};
