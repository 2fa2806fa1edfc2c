import { commandName } from "./command-name.ts";
import { checkProfile, loadEnvironment } from "./environment.ts";
import { serverIn } from "./servers.ts";

/** Reads the environment file; without it, the process ends. */
const wordsOf = async (given: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  try {
    const words = loadEnvironment(given);
    await checkProfile();
    return words;
  } catch (error) {
    const [{ reportError }, { processOutput }] = await Promise.all([
      import("./output/error-report.ts"),
      import("./output/output.ts"),
    ]);
    process.exit(reportError(processOutput(given.includes("--json")), error));
  }
};

/** Runs the command line of this process: a server, or else a command. */
export const start = async (given: ReadonlyArray<string>): Promise<void> => {
  const args = await wordsOf(given);
  const server = serverIn(args);
  if (server === undefined) {
    const { runCli } = await import("./cli.ts");
    runCli(args);
    return;
  }
  const { run } = await server.load();
  await run(server.rest, `${commandName()} ${server.name}`);
};
