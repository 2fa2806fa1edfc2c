import { isRecord } from "@durable-payments/api-core/values";
import { execa } from "execa";
import { join } from "node:path";
import { checkout } from "../processes/apps.ts";
import { strangersEnvironment } from "./environment.ts";

/** The files of packages as a registry has them, by the names of the packages. */
export type Tarballs = ReadonlyMap<string, string>;

/**
 * Build packages of this checkout and pack them as they would be published.
 *
 * @param names what is packed; what it depends on is built, too, but packed only where it is named.
 * @param folder where the tarballs are written.
 */
export const packPackages = async (
  names: ReadonlyArray<string>,
  folder: string,
): Promise<Tarballs> => {
  const inCheckout = { cwd: checkout, stdin: "ignore" } as const;
  await execa("nx", ["run-many", "-t", "build", "-p", names.join(",")], {
    ...inCheckout,
    preferLocal: true,
    localDir: checkout,
  });
  const { stdout } = await execa(
    "npm",
    ["pack", "--json", "--pack-destination", folder, ...names.flatMap((name) => ["-w", name])],
    { ...inCheckout, env: strangersEnvironment() },
  );
  const printed: unknown = JSON.parse(stdout);
  // Some versions of npm write a list, others an object by names.
  const packed: ReadonlyArray<unknown> = Array.isArray(printed)
    ? printed
    : Object.values(isRecord(printed) ? printed : {});
  return new Map(
    packed
      .filter(isRecord)
      .map(({ filename, name }) => [String(name), join(folder, String(filename))]),
  );
};
