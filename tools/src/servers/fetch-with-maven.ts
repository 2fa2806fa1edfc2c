import { writeFile } from "node:fs/promises";
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
    await writeFile(join(folder, server.command), launcher, { mode: 0o755 });
  },
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
