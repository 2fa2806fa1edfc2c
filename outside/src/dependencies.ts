import type { PublicPackage, Tarballs } from "@durable-payments/tools/packages";

/** What the packages are installed beside: the lowest or the newest versions that they take. */
export type Peers = "lowest" | "newest";

/** What a project names that has a worker, a client and tests; npm adds the other peers. */
const NAMED = [
  "@temporalio/client",
  "@temporalio/envconfig",
  "@temporalio/testing",
  "@temporalio/worker",
  "@temporalio/workflow",
  "effect",
  "vitest",
];

const lowestOf = (range: string): string => range.replace(/^(?:[~^]|>=)/, "");

/**
 * List what a project installs, with versions: the packed packages and their peers.
 *
 * @param peers `lowest` pins every peer to the lowest version of its range.
 */
export const dependenciesOf = (
  packages: ReadonlyArray<PublicPackage>,
  tarballs: Tarballs,
  peers: Peers,
): Readonly<Record<string, string>> => {
  const ranges = new Map(packages.flatMap((one) => Object.entries(one.peers)));
  const beside =
    peers === "lowest"
      ? [...ranges].map(([name, range]) => [name, lowestOf(range)] as const)
      : NAMED.map((name) => [name, ranges.get(name) ?? "*"] as const);
  return Object.fromEntries<string>([
    ...[...tarballs].map(([name, file]) => [name, `file:${file}`] as const),
    ...beside,
  ]);
};
