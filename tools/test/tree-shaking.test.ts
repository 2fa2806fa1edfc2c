import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

const bundled = async (code: string): Promise<number> => {
  const build = await rolldown({
    input: "entry",
    cwd: join(checkout, "tools"),
    platform: "node",
    resolve: { conditionNames: ["@durable-payments/source", "node", "default"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? join(checkout, "tools/entry.js") : undefined),
        load: (id) => (id.endsWith("tools/entry.js") ? code : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  return output.reduce((size, part) => size + (part.type === "chunk" ? part.code.length : 0), 0);
};

it("a program that imports one name gets that, and not what is exported beside it", async () => {
  const size = await bundled(
    'import { MissingKey } from "durable-payments/codec"; console.log(MissingKey);',
  );
  // The whole entry has 400 kB.
  expect(size).toBeLessThan(2_000);
});
