import { names } from "@nx/devkit";
import { append, insertBefore } from "./insert.mjs";

const protocol = (className, words) => `/** Input of ${words}. */
export interface ${className}Input {
  /** What has to be there: a decimal string above zero, such as \`"12.50"\`. */
  readonly amount: string;
  /** ISO 4217 code of the balance. */
  readonly currency: string;
}

/** Result of ${words}. */
export interface ${className}Result {
  /** The amount that was waited for. */
  readonly amount: string;
  /** ISO 4217 code of the balance. */
  readonly currency: string;
}
`;

const definition = (
  className,
  propertyName,
) => `import type { ${className}Input, ${className}Result } from "@durable-payments/protocol";
import { beginRun } from "../run/run.ts";
import { awaitFunds } from "../steps/balance.ts";

/** Wait until a balance holds an amount: put the steps that move it in place of this one. */
export function ${propertyName}(input: ${className}Input): Promise<${className}Result> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const { amount, currency } = await run.input();
    await awaitFunds(run, { amount, currency });
    return { amount, currency };
  });
}
`;

const test = (
  fileName,
  propertyName,
) => `import { timeSkipping } from "@durable-payments/tools/testing";
import { describe, expect, it } from "vitest";
import { ${propertyName} } from "../src/index.ts";
import { useRig, useService } from "./support/hooks.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";

describe.skipIf(!timeSkipping.available)(
  \`${fileName}\${timeSkipping.available ? "" : \` (skipped: \${timeSkipping.reason})\`}\`,
  () => {
    const rig = useRig(timeSkippingRig);
    const service = useService();

    it("ends with what it was asked for", async () => {
      const input = { amount: "12.50", currency: "USD" };
      const result = await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(${propertyName}, [input]);
        return handle.result();
      });
      expect(result).toEqual(input);
    });
  },
);
`;

/** Add a workflow to this project, as CONTRIBUTING.md says. */
export default function workflow(tree, { name }) {
  const { className, fileName, propertyName } = names(name);
  const words = fileName.replaceAll("-", " ");
  tree.write(`packages/protocol/src/${fileName}.ts`, protocol(className, words));
  append(
    tree,
    "packages/protocol/src/index.ts",
    `export type { ${className}Input, ${className}Result } from "./${fileName}.ts";\n`,
  );
  insertBefore(
    tree,
    "packages/protocol/src/workflow-types.ts",
    '  tracker: "tracker",',
    `  ${propertyName}: "${propertyName}",\n`,
  );
  tree.write(
    `packages/workflows/src/definitions/${fileName}.ts`,
    definition(className, propertyName),
  );
  append(
    tree,
    "packages/workflows/src/definitions/index.ts",
    `export { ${propertyName} } from "./${fileName}.ts";\n`,
  );
  insertBefore(
    tree,
    "packages/workflows/src/index.ts",
    "export { tracker } from",
    `export { ${propertyName} } from "./definitions/${fileName}.ts";\n`,
  );
  tree.write(`packages/workflows/test/${fileName}.test.ts`, test(fileName, propertyName));
  return () => {
    console.log(`
Made the workflow ${propertyName}. What is left, as CONTRIBUTING.md says:
  - its steps, and the fields that a retry may amend (packages/protocol/src/workflow-types.ts)
  - the check of its input (packages/operations/src/input/) and its command (apps/starter/src/commands/)
  - docs/inputs.md, docs/commands.md, a recorded history, and a plan of the release (npm run plan)`);
  };
}
