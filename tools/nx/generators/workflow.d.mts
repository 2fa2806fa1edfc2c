import type { Tree } from "@nx/devkit";

export default function workflow(tree: Tree, options: { readonly name: string }): () => void;
