import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { CannotStart } from "../cannot-start.ts";

/** Packages of a worker whose `peerDependencies` say which versions they need. */
const OURS = [
  "@durable-payments/plugin",
  "@durable-payments/activities",
  "@durable-payments/api-core",
  "@durable-payments/workflows",
];

/** Those that share values with ours. */
const THEIRS = ["@temporalio/client", "@temporalio/worker"];

/** Of these a process may have one copy alone: what one makes is unknown to the other. */
const SHARED = ["@temporalio/common", "effect"];

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Installed {
  readonly file: string;
  readonly manifest: Manifest;
}

/** The package that a module gets by a name; undefined where it gets none, as in a program that was bundled. */
const installed = (name: string, from: string): Installed | undefined => {
  try {
    const file = createRequire(from).resolve(`${name}/package.json`);
    // What npm has installed.
    return { file, manifest: JSON.parse(readFileSync(file, "utf8")) as Manifest };
  } catch {
    return undefined;
  }
};

const CARET = /^\^(?<major>\d+)\.(?<minor>\d+)\./;

const isWithin = (version: string, range: string): boolean => {
  const { major, minor } = CARET.exec(range)?.groups ?? {};
  if (major === undefined) return true;
  const [ownMajor, ownMinor] = version.split(".").map(Number);
  return ownMajor === Number(major) && (ownMinor ?? 0) >= Number(minor);
};

const checkVersions = (name: string, { file, manifest }: Installed): void => {
  for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
    const found = installed(peer, file);
    if (found !== undefined && !isWithin(found.manifest.version, range)) {
      throw new CannotStart(
        `${peer} is ${found.manifest.version} here, and ${name} needs ${range}: npm install ${peer}@${range}, without --legacy-peer-deps or --force.`,
      );
    }
  }
};

const checkOneCopy = (name: string, importers: ReadonlyArray<Installed>): void => {
  const copies = new Map<string, string>();
  for (const { file, manifest } of importers) {
    if (!(name in { ...manifest.dependencies, ...manifest.peerDependencies })) continue;
    const found = installed(name, file);
    if (found) copies.set(dirname(found.file), found.manifest.version);
  }
  if (copies.size > 1) {
    const where = [...copies].map(([folder, version]) => `${version} in ${folder}`).join(", ");
    throw new CannotStart(
      `${name} is installed ${copies.size} times (${where}), and what one copy makes is unknown to the other: npm dedupe, or give all packages the same version (npm ls ${name}).`,
    );
  }
};

/**
 * Check that a worker runs with the versions that its packages need, and with one copy of what they share. npm
 * checks it, too, unless that is switched off.
 *
 * @param from address of the module that imports them.
 * @throws CannotStart
 */
export const checkPackages = (from: string = import.meta.url): void => {
  const found = [...OURS, ...THEIRS].flatMap((name) => {
    const one = installed(name, from);
    return one === undefined ? [] : [{ name, ...one }];
  });
  for (const { name, ...one } of found) if (OURS.includes(name)) checkVersions(name, one);
  for (const name of SHARED) checkOneCopy(name, found);
};
