import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const file = fileURLToPath(new URL("./examples/in-node-test.ts", import.meta.url));

it("the same test is run by node:test", async () => {
  const args = ["--conditions=@durable-payments/source", "--test", "--test-reporter=tap", file];
  // Node takes the variable for a sign that it is started by another test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toMatch(/# pass 1\n# fail 0/);
});
