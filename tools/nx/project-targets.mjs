// An Nx plugin: what has a tsconfig.spec.json has tests, and Effect's diagnostics. nx.json says what the targets do.
// (Nx's own plugin for Vitest reads one Vite configuration per project and knows no Vitest 5; ours is one for all.)
import { dirname } from "node:path";

export const name = "project-targets";

export const createNodesV2 = [
  "**/tsconfig.spec.json",
  (files) =>
    files.map((file) => [
      file,
      { projects: { [dirname(file)]: { targets: { test: {}, "check-effect": {} } } } },
    ]),
];
