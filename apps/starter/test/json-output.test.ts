import { expect, it } from "vitest";
import { jsonSchema } from "./support/json-schema.ts";

// Every test that runs a command with --json checks the answer by this schema.
it("docs/json-output.schema.json is the schema of what the code answers (vitest -u renews it)", async () => {
  await expect(jsonSchema()).toMatchFileSnapshot("../../../docs/json-output.schema.json");
}, 120_000);
