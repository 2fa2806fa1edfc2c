// node tools/bootstrap.mjs <task> [args…]
// Plain JavaScript without dependencies: it runs before anything is installed, on any Node that npm runs on.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** "22.9.0" is older than "22.19". */
const isNewEnough = (version) => version.localeCompare(oldestNode, "en", { numeric: true }) >= 0;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const checkout = fileURLToPath(new URL("../", import.meta.url));
const { engines } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
const oldestNode = engines.node.replace(">=", "");
const SOURCE = "--conditions=@durable-payments/source";
const SCRIPTS = {
  setup: "tools/src/setup.ts",
  dev: "tools/src/dev.ts",
  "new-project": "tools/src/new-project.ts",
  site: "site/src/build.ts",
  test: "tools/src/test.ts",
  size: "tools/src/size.ts",
  chaos: "chaos/src/main.ts",
  bench: "bench/src/main.ts",
  "durable-payments": "apps/starter/src/main.ts",
  "record-histories": "packages/workflows/scripts/record-histories.ts",
  nx: "node_modules/nx/dist/bin/nx.js",
  vitest: "node_modules/vitest/vitest.mjs",
};

const [task, ...given] = process.argv.slice(2);
if (!Object.hasOwn(SCRIPTS, task ?? "")) {
  fail(`Usage: node tools/bootstrap.mjs ${Object.keys(SCRIPTS).join(" | ")} [arguments]`);
}
if (!isInstalled()) npmCi();
const script = join(checkout, SCRIPTS[task]);
// Called by `./durable-payments`, on a Node that can run it: then no second process is worth its 40 ms.
if (
  task === "durable-payments" &&
  process.execArgv.includes(SOURCE) &&
  isNewEnough(process.versions.node)
) {
  Object.assign(process.env, environment());
  process.argv.splice(1, process.argv.length, script, ...given);
  await import(pathToFileURL(script).href);
} else {
  const isTool = SCRIPTS[task].startsWith("node_modules/");
  process.exitCode = await run(findNode(), [...(isTool ? [] : [SOURCE, "--"]), script, ...given]);
}

/** npm writes node_modules/.package-lock.json as the last step of an installation. */
function isInstalled() {
  const file = join(checkout, "node_modules", ".package-lock.json");
  if (!existsSync(file)) return false;
  const packagesOf = (lock) => JSON.parse(readFileSync(lock, "utf8")).packages ?? {};
  const installed = packagesOf(file);
  return Object.entries(packagesOf(join(checkout, "package-lock.json"))).every(([path, wanted]) => {
    if (!path.includes("node_modules/")) return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

function npmCi() {
  say("Installing the dependencies by npm ci (about half a minute) …");
  // Under `npm run` the very npm that runs is taken, not another one on the PATH.
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const ci = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const [command, args] = npm && node ? [node, [npm, ...ci]] : ["npm", ci];
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: checkout, encoding: "utf8" });
  if (status !== 0) fail(`${stdout}${stderr}npm ci failed (exit code ${status}).`);
}

/** This Node if it is new enough, else the one that is installed as an npm package. */
function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const packaged = join(checkout, "node_modules", ".bin", "node");
  const { status, stdout } = spawnSync(packaged, ["--version"], { encoding: "utf8" });
  if (status === 0 && isNewEnough(stdout.trim().slice(1))) return packaged;
  return fail(
    `${task}: Node ${oldestNode} or later is required, but this is ${process.versions.node}. Install Node 24 from https://nodejs.org.`,
  );
}

/** Runs the task with this terminal; its exit code becomes ours, a signal to us reaches it. */
async function run(command, commandArguments) {
  const child = spawn(command, commandArguments, {
    cwd: workingFolder(),
    env: environment(),
    stdio: "inherit",
  });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // Ctrl-C reaches the child from the terminal itself.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  if (process.env.npm_lifecycle_event) {
    // npm passes a SIGTERM on to the shell that it starts us in; the shell ends and passes nothing on.
    const shell = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== shell) child.kill("SIGTERM");
    }, 500);
    watch.unref();
  }
  return new Promise((settle) => {
    child.on("error", (error) => fail(`${command} did not start: ${error.message}`));
    child.on("exit", (code, signal) => settle(code ?? 128 + constants.signals[signal]));
  });
}

/** The command line reads files that its user names, so it runs in the user's folder, not in npm's. */
function workingFolder() {
  if (task !== "durable-payments") return checkout;
  const { INIT_CWD: users, npm_lifecycle_event: npmScript } = process.env;
  if (npmScript !== "durable-payments") return process.cwd();
  return users && existsSync(users) ? resolve(users) : checkout;
}

/** Children of the task that say "node" get the same Node. */
function environment() {
  const isAdvising = ["durable-payments", "dev"].includes(task);
  return {
    // The name of the command in advice, and the file of the variables of a running `npm run dev` (src/stack.ts).
    ...(isAdvising
      ? {
          DURABLE_PAYMENTS_COMMAND: "./durable-payments",
          DURABLE_PAYMENTS_DEV: join(checkout, ".local", "dev.env"),
        }
      : {}),
    ...process.env,
    PATH: [join(checkout, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter),
  };
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
