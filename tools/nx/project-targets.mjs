// An Nx plugin: which projects have tests or a bundle. nx.json says what the targets do.
// (Nx's own plugin for Vitest reads one Vite configuration per project and knows no Vitest 5; ours is one for all.)
import { basename, dirname } from "node:path";

export const name = "project-targets";

const targetsOf = {
  "tsconfig.spec.json": { test: {} },
  "rolldown.config.ts": {
    build: {
      command: "rolldown --config rolldown.config.ts",
      options: { cwd: "{projectRoot}" },
      cache: true,
      inputs: [
        "production",
        "^production",
        "{workspaceRoot}/tools/src/build-app.ts",
        { externalDependencies: ["rolldown"] },
      ],
      outputs: ["{projectRoot}/dist/app"],
    },
  },
};

export const createNodesV2 = [
  "**/{tsconfig.spec.json,rolldown.config.ts}",
  (files) =>
    files.map((file) => [
      file,
      { projects: { [dirname(file)]: { targets: targetsOf[basename(file)] } } },
    ]),
];
