// node tools/bootstrap.mjs <task> [args…]
// Plain JavaScript without dependencies: it runs before anything is installed, on any Node that npm runs on.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { freshBuild } from "./src/fresh-build.mjs";
import { withLock } from "./src/lock.mjs";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"];
const checkout = fileURLToPath(new URL("../", import.meta.url));
const { engines } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
const oldestNode = engines.node.replace(">=", "");
const [oldestMajor, oldestMinor] = oldestNode.split(".").map(Number);
const sourceCondition = "--conditions=@durable-payments/source";
const scripts = {
  setup: "tools/src/setup.ts",
  demo: "tools/src/demo.ts",
  dev: "tools/src/dev.ts",
  "new-project": "tools/src/new-project.ts",
  docs: "tools/src/doc-examples.ts",
  site: "site/src/build.ts",
  "record-demo": "site/src/record-demo.ts",
  test: "tools/src/test.ts",
  nightly: "tools/src/nightly.ts",
  size: "tools/src/size.ts",
  outside: "outside/src/main.ts",
  chaos: "chaos/src/main.ts",
  bench: "bench/src/main.ts",
  worker: "apps/worker/src/main.ts",
  starter: "apps/starter/src/main.ts",
  simulator: "packages/simulator/src/main.ts",
  "record-histories": "packages/workflows/scripts/record-histories.ts",
  sbom: "tools/src/release/sbom.ts",
  nx: "node_modules/nx/dist/bin/nx.js",
  vitest: "node_modules/vitest/vitest.mjs",
};

const [task, ...args] = process.argv.slice(2);
if (!Object.hasOwn(scripts, task ?? "")) {
  fail(`Usage: node tools/bootstrap.mjs ${Object.keys(scripts).join(" | ")} [arguments]`);
}
await installDependencies();
if (isStarterItself()) await runStarterHere();
else process.exitCode = await run(findNode(), [...scriptArguments(), ...args]);

/** The arguments of Node that run the task. */
function scriptArguments() {
  const script = mainFile();
  return scripts[task].startsWith("node_modules/") ? [script] : [sourceCondition, script];
}

/** The file that does the task: of an app its bundle, unless a source is newer. */
function mainFile() {
  return builtFile() ?? join(checkout, scripts[task]);
}

function builtFile() {
  if (!scripts[task].startsWith("apps/")) return undefined;
  try {
    return freshBuild(checkout, task);
  } catch (error) {
    return fail(`${task}: ${error.message}`);
  }
}

/** Whether `./starter` called, on a Node that can run it: then no second process is worth its 40 ms. */
function isStarterItself() {
  return (
    task === "starter" &&
    process.execArgv.includes(sourceCondition) &&
    isNewEnough(process.versions.node)
  );
}

async function runStarterHere() {
  const main = mainFile();
  Object.assign(process.env, environment());
  process.argv.splice(1, 2, main);
  await import(pathToFileURL(main).href);
}

/** `npm ci`, unless what is installed is what package-lock.json says. */
async function installDependencies() {
  if (isInstalled()) return;
  const folder = join(checkout, ".local");
  mkdirSync(folder, { recursive: true });
  await withLock(
    join(folder, "install.lock"),
    async () => {
      if (!isInstalled()) await npmCi();
    },
    () => say("Another process is installing the dependencies of this checkout: waiting for it …"),
  );
}

/** npm writes node_modules/.package-lock.json as the last step of an installation. */
function isInstalled() {
  const installedFile = join(checkout, "node_modules", ".package-lock.json");
  if (!existsSync(installedFile)) return false;
  const installed = packagesOf(installedFile);
  return Object.entries(packagesOf(join(checkout, "package-lock.json"))).every(([path, wanted]) => {
    if (!path.includes("node_modules/")) return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages ?? {};
}

async function npmCi() {
  say("Installing the dependencies by npm ci (about half a minute) …");
  const started = Date.now();
  const elapsed = setInterval(
    () => say(`  still installing … ${Math.round((Date.now() - started) / 1000)} s`),
    15_000,
  );
  // Under `npm run` the very npm that runs is taken, not another one on the PATH.
  const npm = process.env.npm_execpath;
  const npmArguments = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const { code, output } = await collect(
    npm ? nodeForNpm() : "npm",
    npm ? [npm, ...npmArguments] : npmArguments,
    { cwd: checkout, shell: !npm && process.platform === "win32" },
  );
  clearInterval(elapsed);
  if (code !== 0)
    fail(`${output.trimEnd()}\nnpm ci failed (exit code ${code}); its output is above.`);
}

/** npm ci deletes node_modules: it must not run on the Node that stands in there. */
function nodeForNpm() {
  const modules = join(checkout, "node_modules");
  const nodes = [process.env.npm_node_execpath, process.execPath];
  const outside = nodes.find((path) => path && !realpathSync(path).startsWith(modules));
  if (outside) return outside;
  const copy = join(checkout, ".local", "node");
  copyFileSync(process.execPath, copy);
  return copy;
}

/** This Node when it is new enough, else the one that comes as an npm package. */
function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const packaged = join(checkout, "node_modules", ".bin", "node");
  if (existsSync(packaged)) {
    const { stdout, status } = spawnSync(packaged, ["--version"], { encoding: "utf8" });
    if (status === 0 && isNewEnough(stdout.trim().slice(1))) return packaged;
  }
  return fail(
    `${task}: Node ${oldestNode} or newer is needed, this is ${process.versions.node}. Install Node 24 from https://nodejs.org.`,
  );
}

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Runs the task with this terminal; its exit code becomes ours, a signal to us reaches it. */
async function run(command, commandArguments) {
  const child = spawn(command, commandArguments, {
    cwd: workingFolder(),
    env: environment(),
    stdio: "inherit",
  });
  for (const signal of endingSignals) {
    process.on(signal, () => {
      // Ctrl-C reaches the child from the terminal itself.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  endWithNpm(child);
  return await new Promise((settle) => {
    child.on("error", (error) => fail(`${command} did not start: ${error.message}`));
    child.on("exit", (code, signal) => settle(code ?? 128 + constants.signals[signal]));
  });
}

/** npm hands a SIGTERM on to the shell that it starts us in; the shell ends and passes nothing on. */
function endWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 500);
  watch.unref();
}

/** The starter reads files that its user names, so it runs where the user is, not where npm goes. */
function workingFolder() {
  if (task !== "starter") return checkout;
  const { INIT_CWD: users, npm_lifecycle_event: script } = process.env;
  if (script !== "starter") return process.cwd();
  return users && existsSync(users) ? resolve(users) : checkout;
}

/** Children of the task that say "node" get the same Node. */
function environment() {
  const { PATH: path = "" } = process.env;
  const binaries = join(checkout, "node_modules", ".bin");
  return {
    ...(task === "starter" || (task === "worker" && !process.env.PAYMENTS_BASE_URL)
      ? devStack()
      : {}),
    // By which the starter is named in what is advised.
    ...(["starter", "demo", "dev", "worker"].includes(task)
      ? { STARTER_COMMAND: "./starter" }
      : {}),
    ...process.env,
    PATH: [binaries, path].join(delimiter),
  };
}

/** The addresses of a running `npm run dev` (stack/dev-environment.ts), unless the user names a server. */
function devStack() {
  const file = join(checkout, ".local", "dev.env");
  const { TEMPORAL_ADDRESS, TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE } = process.env;
  if (TEMPORAL_ADDRESS || TEMPORAL_PROFILE || TEMPORAL_CONFIG_FILE || !existsSync(file)) return {};
  const { DURABLE_PAYMENTS_DEV_PROCESS: owner, ...variables } = parseEnv(
    readFileSync(file, "utf8"),
  );
  try {
    process.kill(Number(owner), 0);
    return variables;
  } catch {
    return {};
  }
}

function collect(command, commandArguments, options) {
  return new Promise((settle) => {
    const child = spawn(command, commandArguments, {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
    });
    // npm ends an installation before it heeds a signal. A broken-off one is noticed and done again.
    for (const signal of endingSignals) process.on(signal, () => child.kill("SIGKILL"));
    let output = "";
    const add = (text) => {
      output += text;
    };
    child.stdout.setEncoding("utf8").on("data", add);
    child.stderr.setEncoding("utf8").on("data", add);
    child.on("error", (error) => settle({ code: 1, output: error.message }));
    child.on("close", (code, signal) =>
      settle({ code: code ?? 128 + constants.signals[signal], output }),
    );
  });
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
