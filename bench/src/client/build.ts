import { execa } from "execa";
import { fileURLToPath } from "node:url";

const workspace = fileURLToPath(new URL("../../..", import.meta.url));

/** The entry of the promise client as it is published. */
export const clientPath = `${workspace}packages/api-core/dist/promise/index.js`;

/** Builds the client as it is published. */
export const buildClient = async (): Promise<void> => {
  await execa("nx", ["run", "@durable-payments/client:build"], {
    cwd: workspace,
    preferLocal: true,
    stdin: "ignore",
  });
};
