import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { loadEnvironment } from "../src/environment.ts";
import { runCli } from "./support/run-cli.ts";

const SECRET = "planted-secret-of-nobody";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "config-"));
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("HOME", folder);
  return () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  };
});

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const settingsOf = async () => {
  const { code, stdout } = await runCli("config", "--json");
  const answer = JSON.parse(stdout) as {
    readonly settings: ReadonlyArray<Readonly<Record<"name" | "value" | "from", string>>>;
    readonly problems: ReadonlyArray<string>;
  };
  const byName = new Map(answer.settings.map(({ from, name, value }) => [name, [value, from]]));
  return { code, problems: answer.problems, of: (name: string) => byName.get(name) };
};

it("says where each setting comes from: the upper place counts", async () => {
  const file = write(
    "s.json",
    JSON.stringify({ taskQueue: "file", logLevel: "INFO", notify: { webUi: "http://ui:8233" } }),
  );
  const variables = write(
    "b.env",
    `PAYMENTS_TASK_QUEUE=ours\nPAYMENTS_CLIENT_ID=c-1\nPAYMENTS_SETTINGS=${file}\n`,
  );
  vi.stubEnv("PAYMENTS_CLIENT_ID", "c-2");
  vi.stubEnv("PAYMENTS_PERSON", "ada");
  // What the file sets is undone with the test.
  for (const name of ["PAYMENTS_TASK_QUEUE", "PAYMENTS_SETTINGS"]) vi.stubEnv(name, undefined);
  loadEnvironment(["--env-file", variables]);
  const { code, of, problems } = await settingsOf();
  expect({ code, problems }).toEqual({ code: 0, problems: [] });
  expect(of("taskQueue")).toEqual(["ours", variables]);
  expect(of("clientId")).toEqual(["c-2", "environment"]);
  expect(of("logLevel")).toEqual(["INFO", file]);
  expect(of("PAYMENTS_PERSON")).toEqual(["ada", "environment"]);
  expect(of("notify.webUi")).toEqual(["http://ui:8233", file]);
  expect(of("TEMPORAL_ADDRESS")).toEqual(["localhost:7233", "default"]);
});

it("says why the variables of npm run dev are not used", async () => {
  vi.stubEnv("DURABLE_PAYMENTS_DEV", join(folder, "dev.env"));
  loadEnvironment([]);
  expect((await runCli("config")).stdout).toContain("npm run dev is not running.");
  vi.stubEnv("DURABLE_PAYMENTS_DEV", undefined);
  loadEnvironment([]);
});

it("says what the profile of Temporal has", async () => {
  const profiles = write(
    "t.toml",
    '[profile.default]\naddress = "temporal:7233"\nnamespace = "n"\n[profile.default.tls]\n',
  );
  vi.stubEnv("TEMPORAL_CONFIG_FILE", profiles);
  vi.stubEnv("TEMPORAL_PROFILE", "default");
  const { of } = await settingsOf();
  expect(of("TEMPORAL_ADDRESS")).toEqual(["temporal:7233", "profile"]);
  expect(of("TEMPORAL_NAMESPACE")).toEqual(["n", "profile"]);
  expect(of("TEMPORAL_PROFILE")).toEqual(["default", "environment"]);
});

/** Everything that can hold a secret, also where it does not belong. */
const PLANTED: Readonly<Record<string, string>> = {
  PAYMENTS_API_KEY: SECRET,
  PAYMENTS_API_KEY_FILE: SECRET,
  PAYMENTS_BASE_URL: `https://user:${SECRET}@service.example/${SECRET}?key=${SECRET}`,
  PAYMENTS_LEDGER: `postgres://user:${SECRET}@db/payments?password=${SECRET}`,
  PAYMENTS_KEYRING: SECRET,
  PAYMENTS_CA_FILE: SECRET,
  PAYMENTS_NOTIFY_URL: `https://hooks.example/services/${SECRET}`,
  PAYMENTS_NOTIFY_SECRET: `whsec_${SECRET}`,
  PAYMENTS_HEALTH_ADDRESS: SECRET,
  PAYMENTS_LOG_LEVEL: SECRET,
  PAYMENTS_APPROVE_ABOVE: SECRET,
  TEMPORAL_API_KEY: SECRET,
  TEMPORAL_ADDRESS: `https://user:${SECRET}@temporal/${SECRET}`,
  TEMPORAL_GRPC_META_AUTHORIZATION: SECRET,
  TEMPORAL_TLS_CLIENT_KEY_DATA: SECRET,
  TEMPORAL_TLS_CLIENT_KEY_PATH: SECRET,
};

it.each([[["config"]], [["config", "--json"]]])("shows no secret: %j", async (words) => {
  const accounts = {
    eu: { clientId: "c", apiKey: SECRET, baseUrl: `https://u:${SECRET}@eu.example/` },
  };
  const codecServer = { tokens: { jwksUrl: `https://idp/${SECRET}`, issuer: "i", audience: "a" } };
  const settings = { accounts, codecServer, proxy: `http://u:${SECRET}@proxy:3128` };
  vi.stubEnv("PAYMENTS_SETTINGS", write("s.json", JSON.stringify(settings)));
  for (const [name, value] of Object.entries(PLANTED)) vi.stubEnv(name, value);
  const { stderr, stdout } = await runCli(...words);
  expect(stdout).toContain("accounts.eu.clientId");
  for (const name of Object.keys(PLANTED)) expect(stdout).toContain(name);
  expect(`${stdout}${stderr}`).not.toContain(SECRET);
});

it("names every invalid setting, and ends with 2", async () => {
  vi.stubEnv("PAYMENTS_LOG_LEVEL", "loud");
  vi.stubEnv("PAYMENTS_HEALTH_ADDRESS", "nowhere:");
  vi.stubEnv("TEMPORAL_ADDRESS", "http://temporal");
  const { code, of, problems } = await settingsOf();
  expect(code).toBe(2);
  for (const name of ["PAYMENTS_LOG_LEVEL", "PAYMENTS_HEALTH_ADDRESS", "TEMPORAL_ADDRESS"])
    expect(problems.join(" ")).toContain(name);
  expect(of("logLevel")).toEqual(["(invalid)", "environment"]);
});
