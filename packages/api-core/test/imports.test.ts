import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { operationNames } from "../src/effect.ts";
import { listNames } from "../src/client/client-shape.ts";
import { operation } from "../src/contract.ts";

const entry = new URL("../src/effect.ts", import.meta.url).href;

/** Imports a module in a separate process, and lists what it loads of node_modules. */
const loadedBy = async (module: string): Promise<ReadonlyArray<string>> => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(module)});
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=@durable-payments/source",
    "--input-type=module",
    "--eval",
    script,
  ]);
  // The script prints a list of addresses.
  return (JSON.parse(stdout) as ReadonlyArray<string>).map((url) =>
    url.replace(/^.*\/node_modules\//, ""),
  );
};

it("loads neither the contract, nor Schema, nor undici before a client is made", async () => {
  const loaded = await loadedBy(entry);
  const late = loaded.filter((url) =>
    /^undici\/|^effect\/dist\/(index|Schema|SchemaAST|Stream|Config|http-api|observability|persistence)\b|payments-api|pipeline/.test(
      url,
    ),
  );
  expect(loaded.length).toBeGreaterThan(50);
  expect(late).toStrictEqual([]);
});

it("knows the operations by name before the contract is loaded", () => {
  for (const name of operationNames) expect(operation(name).name).toBe(name);
  expect(operationNames).toHaveLength(20);
  expect(listNames).toStrictEqual(
    operationNames.filter((name) => operation(name).paging !== undefined),
  );
});
