import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const ENTRY = "entry";

/**
 * Bundles one export of the built client, as a user's bundler does.
 *
 * @param name of the export
 * @returns bytes of all files of the bundle, minified
 */
export const bundledBytes = async (name: string): Promise<number> => {
  const { output } = await build({
    input: ENTRY,
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    platform: "node",
    plugins: [
      {
        name: ENTRY,
        resolveId: (id) => (id === ENTRY ? `\0${ENTRY}` : undefined),
        load: (id) =>
          id === `\0${ENTRY}` ? `export { ${name} } from "@durable-payments/api-core";` : undefined,
      },
    ],
    write: false,
    output: { minify: true },
  });
  return output.reduce(
    (bytes, file) => bytes + (file.type === "chunk" ? Buffer.byteLength(file.code) : 0),
    0,
  );
};
