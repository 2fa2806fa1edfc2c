// The built output as the image runs it, by every command of Compose, the chart and the systemd unit: a user id that has no name
// and no home, a read-only root with a tmpfs, secrets in files, and no development dependency. A checkout has all of these
// otherwise, so that nothing else finds a product that needs them.
import { type Postgres, startPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { awaitReadyLine, checkout, type ReadyLine, type StartedProcess } from "../src/processes.ts";
import {
  chartWorker,
  composeServices,
  type Deployed,
  readImage,
  systemdCommandLine,
  systemdWorker,
} from "./support/deployments.ts";
import { buildImage, keyringFiles, makeImage, whyNotIsolated } from "./support/image.ts";

const [codecServer, composeWorker] = composeServices();
const image = readImage();
const NAMESPACE = "payments";
const API_KEY = "simulator-key";
const HOST_KEY = "/run/credentials";

type Temporal = Awaited<ReturnType<typeof createLocalEnvironment>>;

let simulator: ReadyLine;
let database: Postgres | undefined;
let folder: string;
const images: Array<ReturnType<typeof makeImage>> = [];
const started: Array<StartedProcess> = [];

const newImage = () => {
  const made = makeImage();
  images.push(made);
  return made;
};

type Image = ReturnType<typeof makeImage>;

/** Ends with the tests, if not before. */
const start = (of: Image, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const process = of.start({ command: ["node", ...args], env });
  started.push(process);
  return process;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "image-rig-"));
  await buildImage();
  if (whyNoPostgres() === undefined) database = await startPostgres(folder);
  const args = [...image.entry, "simulator", "--json", "--port", "0"];
  simulator = await awaitReadyLine(start(newImage(), args, image.env));
}, 600_000);

afterAll(async () => {
  for (const process of started) await process.kill();
  await database?.stop();
  for (const each of images) each.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The dev server has neither TLS nor keys. */
const ONLY_IN_PRODUCTION = /^TEMPORAL_(TLS|API_KEY)/;

/** What differs from the files: the addresses of this rig, and free ports. */
const inRig = (env: Deployed["env"], temporal: Temporal): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !ONLY_IN_PRODUCTION.test(name))),
  TEMPORAL_ADDRESS: temporal.address,
  TEMPORAL_NAMESPACE: env["TEMPORAL_NAMESPACE"] || NAMESPACE,
  PAYMENTS_BASE_URL: String(simulator["url"]),
  PAYMENTS_CLIENT_ID: String(simulator["clientId"]),
  PAYMENTS_HEALTH_ADDRESS: (env["PAYMENTS_HEALTH_ADDRESS"] ?? "127.0.0.1:9090").replace(
    /\d+$/,
    "0",
  ),
  ...(env["PAYMENTS_LEDGER"] === "" && { PAYMENTS_LEDGER: database?.address("postgres") ?? "" }),
});

/** The commands of deploy/README.md that run the command line in a deployment: what follows its name. */
const documented = (where: RegExp): ReadonlyArray<string> =>
  readFileSync(join(checkout, "deploy/README.md"), "utf8")
    .split("\n")
    .filter((line) => where.test(line))
    .map((line) => line.replace(where, "").trim());

interface Deployment {
  readonly worker: Deployed | undefined;
  readonly replicas: number;
  readonly files: (made: Image) => void;
  /** The command line, of the image or of a host. */
  readonly commandLine: ReadonlyArray<string>;
  readonly commandLineEnv?: Deployed["env"];
  /** How its operator calls the command line. */
  readonly called: RegExp;
  readonly whyNot?: () => string | undefined;
}

const onHost = systemdCommandLine();

const DEPLOYMENTS: ReadonlyArray<Deployment> = [
  {
    worker: composeWorker,
    replicas: 2,
    files: (made) => {
      made.volume("/var/lib/payments");
      made.secrets("/run/secrets", { payments_api_key: API_KEY }, "user");
      made.secrets("/etc/payments/keys", keyringFiles(), "user");
    },
    commandLine: [image.commandLine],
    called: /^docker compose .* exec worker durable-payments /,
  },
  {
    worker: chartWorker(),
    replicas: 1,
    files: (made) => {
      made.secrets("/secrets/service", { "api-key": API_KEY }, "group");
      made.secrets("/secrets/keyring", keyringFiles(), "group");
    },
    commandLine: [image.commandLine],
    called: /^kubectl exec deploy\/payments-worker -- durable-payments /,
    whyNot: whyNoPostgres,
  },
  {
    worker: systemdWorker(),
    replicas: 1,
    files: (made) => {
      made.volume("/var/lib/durable-payments");
      made.volume("/var/cache/durable-payments");
      made.secrets(HOST_KEY, { "api-key": API_KEY }, "user");
    },
    commandLine: ["node", ...onHost.args],
    commandLineEnv: onHost.env,
    called: /^sudo \S*\/systemd\/durable-payments /,
  },
];

it("a process of the image has no name, no home, and nothing to write to but /tmp", async ({
  skip,
}) => {
  skip(whyNotIsolated() !== undefined, whyNotIsolated());
  const probe = `
    const { writeFileSync } = require("node:fs");
    const tried = (work) => { try { return work(); } catch ({ code }) { return code; } };
    console.log(JSON.stringify({
      uid: process.getuid(), home: process.env.HOME ?? null,
      name: tried(() => require("node:os").userInfo().username),
      app: tried(() => writeFileSync("/app/x", "")), root: tried(() => writeFileSync("/x", "")),
      tmp: tried(() => writeFileSync("/tmp/x", "") ?? "written"),
      development: tried(() => require.resolve("oxlint")),
    }));`;
  expect(await awaitReadyLine(start(newImage(), ["--eval", probe], {}))).toEqual({
    uid: 10001,
    home: null,
    name: "ERR_SYSTEM_ERROR",
    app: "EROFS",
    root: "EROFS",
    tmp: "written",
    development: "MODULE_NOT_FOUND",
  });
});

it("the codec server of Compose starts, decodes nothing for strangers, and stops", async () => {
  const made = newImage();
  made.secrets("/etc/payments/keys", keyringFiles(), "user");
  const args = [...(codecServer?.args ?? []), "--port", "0"];
  const server = start(made, args, codecServer?.env ?? {});
  const { ready, url } = await awaitReadyLine(server);
  expect(ready).toBe(true);
  const { status } = await fetch(`${String(url)}/decode`, { method: "POST", body: "{}" });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await server.kill("SIGTERM")).toMatchObject({ code: 0 });
});

describe.each(
  DEPLOYMENTS.map((deployment) => [deployment.worker?.name ?? "", deployment] as const),
)(
  "%s",
  { concurrent: false },
  (name, { called, commandLine, commandLineEnv, files, replicas, whyNot, worker }) => {
    let made: Image;
    let temporal: Temporal;
    let env: Readonly<Record<string, string>>;
    let workers: ReadonlyArray<StartedProcess> = [];
    let ready: ReadonlyArray<ReadyLine> = [];
    const id = `image-${name.split(" ")[0]}`;

    const run = async (...args: ReadonlyArray<string>) => {
      const [program = "", ...before] = commandLine;
      const variables = commandLineEnv === undefined ? env : inRig(commandLineEnv, temporal);
      const process = made.start({ command: [program, ...before, ...args], env: variables });
      const { code } = await process.exited;
      return { code, text: `${process.stdout()}${process.stderr()}` };
    };

    beforeAll(async () => {
      if (whyNot?.() !== undefined) return;
      made = newImage();
      files(made);
      temporal = await createLocalEnvironment({ namespace: NAMESPACE });
      env = inRig(worker?.env ?? {}, temporal);
      workers = Array.from({ length: replicas }, () => start(made, worker?.args ?? [], env));
      ready = await Promise.all(workers.map(awaitReadyLine));
    });

    afterAll(async () => {
      // Before its server, which it would look for.
      for (const each of workers) await each.kill();
      await temporal?.teardown();
    });

    beforeEach(({ skip }) => skip(whyNot?.() !== undefined, whyNot?.()));

    it("its workers are ready, and export metrics", async () => {
      for (const each of ready) {
        const address = `http://127.0.0.1:${String(each["health"]).split(":").at(-1)}`;
        await vi.waitFor(async () => expect((await fetch(`${address}/readyz`)).status).toBe(200), {
          timeout: 60_000,
          interval: 500,
        });
        expect(await (await fetch(`${address}/metrics`)).text()).toContain("temporal_");
      }
    });

    it("a payment is made", async () => {
      const file =
        whyNotIsolated() === undefined
          ? "/app/examples/payout.json"
          : join(checkout, "examples/payout.json");
      const paid = await run("pay", file, "--id", id, "--by", "ada");
      expect(paid).toMatchObject({ code: 0, text: expect.stringContaining("started") as string });
      await vi.waitFor(
        async () => expect((await run("show", id)).text).toMatch(/status +succeeded/),
        { timeout: 120_000, interval: 1_000 },
      );
    });

    it("the documented commands work, each with a name", async () => {
      const commands = documented(called);
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) {
        const args = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
          ([, quoted, plain]) => quoted ?? plain ?? "",
        );
        expect(await run(...args)).toMatchObject({ code: 0 });
      }
    });

    it("a decision without a name is refused, with what to pass", async () => {
      expect(await run("pause", "--reason", "Checking")).toMatchObject({
        code: 2,
        text: expect.stringMatching(/--by NAME[\s\S]*PAYMENTS_PERSON/) as string,
      });
    });

    it("the workers drain on SIGTERM, and have logged no error", async () => {
      const exits = await Promise.all(workers.map((each) => each.kill("SIGTERM")));
      const ends = exits.map((exit, index) => ({ ...exit, logged: workers[index]?.stderr() }));
      expect(ends).toEqual(ends.map(() => ({ code: 0, signal: undefined, logged: "" })));
    });
  },
);
