// What the files in deploy/ start, as they have it: the image, Compose, the chart, the systemd unit and its command line.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { checkout } from "../../src/processes.ts";

const read = (file: string): string => readFileSync(join(checkout, "deploy", file), "utf8");

/** A process of the image, or of a host that is laid out like it. */
export interface Deployed {
  readonly name: string;
  /** Arguments of Node, from the folder of the image or of the host. */
  readonly args: ReadonlyArray<string>;
  readonly env: Readonly<Record<string, string>>;
}

/** What the last stage of deploy/Dockerfile says, and the command by which the first one builds. */
export const readImage = () => {
  const text = read("Dockerfile");
  const [build = "", last = ""] = text.split(/^FROM .*$/m).slice(1);
  const list = (name: string) =>
    JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, "m").exec(last)?.[1] ?? "[]") as Array<string>;
  const [node, ...entry] = list("ENTRYPOINT");
  return {
    build: /npx (nx .*?) *\\?$/m.exec(build)?.[1]?.split(" ") ?? [],
    node,
    entry,
    command: list("CMD"),
    user: /^USER (\S+)$/m.exec(last)?.[1] ?? "",
    folder: /^WORKDIR (\S+)$/m.exec(last)?.[1] ?? "",
    env: Object.fromEntries(
      [...last.matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, k = "", v = ""]) => [k, v]),
    ),
    /** Path of the command line in the image, by its name on the PATH. */
    commandLine: /^RUN ln -s (\S+) \S+$/m.exec(last)?.[1] ?? "",
  };
};

interface Service {
  readonly image: string;
  readonly command?: ReadonlyArray<string>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
}

const image = readImage();
const argsOf = (command: ReadonlyArray<string> = image.command) => [...image.entry, ...command];

/** The services of Compose that run the image, by their names. */
export const composeServices = (): ReadonlyArray<Deployed> => {
  const { services } = parse(read("compose/compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  return Object.entries(services)
    .filter(([, service]) => service.image.startsWith("${WORKER_IMAGE"))
    .map(([name, { command, environment = {} }]) => ({
      name: `compose ${name}`,
      args: argsOf(command),
      env: { ...image.env, ...environment },
    }));
};

type Values = Readonly<Record<string, unknown>>;

/** Returns a value of the chart by its path, such as `service.baseUrl`. */
const valueAt = (values: Values, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (at as Values | undefined)?.[name], values);

/**
 * Reads the worker's container of the chart, with the values of its example. The few constructs of templates that it has
 * are read here, because machines that run the tests lack helm; deploy/check renders the same with it.
 */
export const chartWorker = (): Deployed => {
  const defaults = parse(read("chart/values.yaml")) as Values;
  const example = parse(read("chart/values.example.yaml")) as Values;
  const values = Object.fromEntries(
    [...new Set([...Object.keys(defaults), ...Object.keys(example)])].map((name) => {
      const [lower, upper] = [defaults[name], example[name]];
      const isGroup = typeof lower === "object" && typeof upper === "object";
      return [name, isGroup ? { ...lower, ...upper } : (upper ?? lower)];
    }),
  );
  const containers = read("chart/templates/_helpers.tpl").split(/^ {2}containers:$/m)[1] ?? "";
  const worker = containers
    .split(/^ {2}volumes:$/m)[0]
    ?.replaceAll(/^.*\$name.*$/gm, "")
    .replaceAll(/^ *\{\{-.*\}\}$/gm, "")
    .replaceAll(/\{\{ \.Values\.([\w.]+)(?: \| quote)? \}\}/g, (_, path: string) =>
      JSON.stringify(valueAt(values, path) ?? ""),
    );
  const [{ args, command, env = [] } = {}] = parse(worker ?? "") as ReadonlyArray<{
    readonly command?: ReadonlyArray<string>;
    readonly args?: ReadonlyArray<string>;
    readonly env?: ReadonlyArray<{ readonly name: string; readonly value?: string }>;
  }>;
  return {
    name: "chart worker",
    // In Kubernetes `command` replaces the entry point, and `args` the command.
    args: command === undefined ? argsOf(args) : [...command.slice(1), ...(args ?? [])],
    env: {
      ...image.env,
      ...Object.fromEntries(env.map(({ name, value = "" }) => [name, value])),
      ...(values["settings"] as Readonly<Record<string, string>>),
    },
  };
};

/** Variables of the file /etc/durable-payments/worker.env, which a host's operator writes. */
const OF_THE_HOST = [
  "TEMPORAL_ADDRESS",
  "TEMPORAL_NAMESPACE",
  "PAYMENTS_BASE_URL",
  "PAYMENTS_CLIENT_ID",
];

const hostEnv = (assignments: ReadonlyArray<string>): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(OF_THE_HOST.map((name) => [name, ""])),
  ...Object.fromEntries(
    assignments.map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string]),
  ),
});

/** Reads the worker of the systemd unit. */
export const systemdWorker = (): Deployed => {
  const unit = read("systemd/payments-worker@.service");
  const all = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  const [, ...args] = all("ExecStart")[0]?.split(" ") ?? [];
  return {
    name: "systemd worker",
    args,
    env: hostEnv(
      all("Environment").map((each) => each.replace("%d", "/run/credentials").replace("%i", "1")),
    ),
  };
};

/** Reads the command line on a host of systemd units: without the arguments that its user adds. */
export const systemdCommandLine = (): Deployed & { readonly properties: ReadonlyArray<string> } => {
  const script = read("systemd/durable-payments");
  const options = (name: string) =>
    [...script.matchAll(new RegExp(`--${name}=(\\S+)`, "g"))].map(([, value = ""]) => value);
  const [, key = "", args = ""] =
    /sh -c 'PAYMENTS_API_KEY_FILE=\$CREDENTIALS_DIRECTORY\/(\S+) exec \S+ (.*?) "\$@"'/.exec(
      script,
    ) ?? [];
  return {
    name: "systemd command line",
    args: args.split(" "),
    env: hostEnv([...options("setenv"), `PAYMENTS_API_KEY_FILE=/run/credentials/${key}`]),
    properties: options("property"),
  };
};

/** Everything that the deployment files start. */
export const allDeployed = (): ReadonlyArray<Deployed> => [
  ...composeServices(),
  chartWorker(),
  systemdWorker(),
  systemdCommandLine(),
];
