import type { Tree } from "@nx/devkit";

export default function operation(
  tree: Tree,
  options: {
    readonly name: string;
    readonly resource: "balances" | "beneficiaries" | "cardholders" | "cards";
    readonly path: string;
    readonly class?: "safe" | "idempotent" | "none";
  },
): () => void;
