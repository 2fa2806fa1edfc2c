import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";
import type { Installer, Server } from "./server.ts";

const oldestJava = 11;
const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

const pom = (server: Server) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>durable-payments</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${server.version}</version>
    </dependency>
    <dependency>
      <!-- Without it the server complains about missing loggers into the output of the tests. -->
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/** Small heap and the quick compiler: the SDK waits no longer than 5 seconds for the start. */
const launcher = `#!/bin/sh
folder=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec "\${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m \\
  -cp "$folder/lib/*" io.temporal.testserver.TestServer "$@"
`;

/** Fetches the test server as a Java program; needs only Maven Central. */
export const fetchWithMaven: Installer = {
  name: "Maven and Java",
  install: async (server, folder, report) => {
    if (process.platform === "win32") throw new Error("not supported on Windows");
    await checkJava();
    await writeFile(join(folder, "pom.xml"), pom(server));
    await report.during(
      `Fetching the ${server.title} ${server.version} with Maven, once (about 20 s)`,
      runTool(
        "mvn",
        [
          "--batch-mode",
          "--quiet",
          "-Dstyle.color=never",
          copyDependencies,
          "-DincludeScope=runtime",
          `-DoutputDirectory=${join(folder, "lib")}`,
        ],
        { missing: "Maven (mvn) is not installed", cwd: folder },
      ),
    );
    await checkJars(server, join(folder, "lib"));
    await writeFile(join(folder, server.command), launcher, { mode: 0o755 });
  },
};

/** The jars of a version, as `sha256sum` writes them: whatever a repository serves, these alone are run. */
const pinnedJars = async ({ command, version }: Server): Promise<ReadonlyMap<string, string>> => {
  const file = new URL(`${command}-${version}.sha256`, import.meta.url);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [sha256 = "", jar = ""] = line.split(/\s+/);
      return [jar, sha256];
    }),
  );
};

/**
 * Check that a folder holds the jars that are pinned, and no other.
 *
 * @throws Error that names what differs
 */
export const checkJars = async (server: Server, folder: string): Promise<void> => {
  const pinned = await pinnedJars(server);
  const found = await readdir(folder);
  const missing = [...pinned.keys()].find((jar) => !found.includes(jar));
  if (missing !== undefined) throw new Error(`${missing} is missing among what Maven fetched`);
  for (const jar of found) {
    const sha256 = createHash("sha256")
      .update(await readFile(join(folder, jar)))
      .digest("hex");
    if (sha256 !== pinned.get(jar)) {
      throw new Error(
        `${jar} is not the one that is pinned: its SHA-256 is ${sha256}, and not ${pinned.get(jar) ?? "any that is known"}`,
      );
    }
  }
};

const checkJava = async (): Promise<void> => {
  const home = process.env["JAVA_HOME"];
  const java = home ? join(home, "bin", "java") : "java";
  const missing = `Java is not installed (${java}); Java ${oldestJava} or newer is needed`;
  const printed = await runTool(java, ["-version"], { missing });
  // "1.8.0_402" is Java 8, "17.0.15" is Java 17.
  const version = Number(/version "(?:1\.)?(\d+)/.exec(printed)?.[1]);
  if (!(version >= oldestJava)) {
    throw new Error(`Java ${oldestJava} or newer is needed, ${java} is ${version || "unknown"}`);
  }
};
