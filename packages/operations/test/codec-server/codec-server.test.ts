import { encryptedDataConverter, openKeyring } from "@durable-payments/codec";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import {
  type Authenticate,
  authenticateByFile,
  type CodecRequestEntry,
  type CodecServerSettings,
  startCodecServer,
} from "../../src/codec-server/index.ts";

const UI = "https://temporal.example.com";
const ID = "f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11";
const IBAN = "DE89370400440532013000";
const beneficiary = { nickname: "Supplier", iban: IBAN, email: "ada@example.com" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "codec-server-"));
  await writeFile(join(folder, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
  await writeFile(join(folder, "current"), "k1");
});
afterAll(() => rm(folder, { recursive: true }));

const converter = () =>
  encryptedDataConverter({
    namespace: "payments",
    keys: openKeyring(folder),
    dataKeyLifetimeMs: 1,
  });

const start = async (given: Partial<CodecServerSettings> = {}) => {
  const log: Array<CodecRequestEntry> = [];
  const authenticate: Authenticate = async () => ({ name: "ada", role: "reader" });
  const server = await startCodecServer({
    authenticate,
    dataConverter: converter(),
    host: "127.0.0.1",
    log: (entry) => log.push(entry),
    namespace: "payments",
    origins: [UI],
    port: 0,
    ...given,
  });
  onTestFinished(() => server.close());
  return { ...server, log };
};

const base64 = (bytes: Uint8Array | null | undefined) =>
  Buffer.from(bytes ?? []).toString("base64");
const wire = ({ data, metadata }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
  ),
  data: base64(data),
});
const encrypted = async (value: unknown) => {
  const [payload] =
    (await converter().payloadCodecs?.[0]?.encode([defaultPayloadConverter.toPayload(value)])) ??
    [];
  return wire(payload ?? {});
};

type Answer = { readonly payloads: ReadonlyArray<ReturnType<typeof wire>> };
const valuesOf = ({ payloads }: Answer): ReadonlyArray<unknown> =>
  payloads.map(({ data }): unknown => JSON.parse(Buffer.from(data, "base64").toString()));

const post = async (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly json: Answer }> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-namespace": "payments", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  // A refusal has a message in its place.
  const json = (await response.json()) as Answer;
  return { status: response.status, headers: response.headers, json };
};

it.each(["/decode", "/payments/decode"])("decodes as the Web UI asks, at %s", async (path) => {
  const { log, url } = await start();
  const payloads = [await encrypted(beneficiary), wire(defaultPayloadConverter.toPayload("plain"))];
  const { json, status } = await post(`${url}${path}`, { payloads }, { origin: UI });
  expect(status).toBe(200);
  expect(valuesOf(json)).toEqual([beneficiary, "plain"]);
  expect(log).toMatchObject([
    {
      operation: "decode",
      status: 200,
      user: "ada",
      role: "reader",
      origin: UI,
      payloads: 2,
      keyIds: ["k1"],
    },
  ]);
  expect(JSON.stringify(log)).not.toContain(IBAN);
});

it("masks values for those who may not see them", async () => {
  const { url } = await start({ authenticate: async () => ({ name: "bob", role: "masked" }) });
  const payout = {
    amount: "51.00",
    currency: "EUR",
    payout_reference: "Ada",
    done: true,
    count: 7,
  };
  const payloads = [
    await encrypted(beneficiary),
    await encrypted("Ada"),
    await encrypted({ payout, payout_id: ID, message: "Ada is no name" }),
    await encrypted({ "Anna Example": { DE89370400440532013000: "x" }, ada: [IBAN, 7] }),
    await encrypted({
      state: "Berlin",
      payout_id: IBAN,
      unique_request_id: "ada.example",
      currency: "Anna",
      country_code: "DE",
      country: "Anna",
      amount: 370400440532013000,
      birth_time: "1980-01-02T00:00:00Z",
      time: 19800102,
      create_time: "2026-01-02T00:00:00Z",
      payout_status: "completed",
    }),
  ];
  const { json } = await post(`${url}/decode`, { payloads });
  const masked = "[redacted]";
  expect(valuesOf(json)).toEqual([
    { nickname: masked, iban: masked, email: masked },
    masked,
    {
      payout: { ...payout, payout_reference: masked, count: masked },
      payout_id: ID,
      message: masked,
    },
    { [masked]: { [masked]: masked }, ada: [masked, masked] },
    {
      state: masked,
      payout_id: masked,
      unique_request_id: masked,
      currency: masked,
      country_code: "DE",
      country: masked,
      amount: masked,
      birth_time: masked,
      time: masked,
      create_time: "2026-01-02T00:00:00Z",
      payout_status: "completed",
    },
  ]);
});

it("lets pages of the listed origins ask, and no others", async () => {
  const { log, url } = await start();
  const preflight = await fetch(`${url}/decode`, {
    method: "OPTIONS",
    headers: { origin: UI, "access-control-request-headers": "x-namespace" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe(UI);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("x-namespace");
  const other = await post(`${url}/decode`, { payloads: [] }, { origin: "https://evil.example" });
  expect(other.status).toBe(403);
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
  expect(log).toMatchObject([{ status: 403, origin: "https://evil.example", user: undefined }]);
});

it("encodes for editors alone", async () => {
  const payloads = [wire(defaultPayloadConverter.toPayload(beneficiary))];
  const reading = await start();
  expect((await post(`${reading.url}/encode`, { payloads })).status).toBe(403);
  const editing = await start({ authenticate: async () => ({ name: "eve", role: "editor" }) });
  const encoded = await post(`${editing.url}/encode`, { payloads });
  expect(JSON.stringify(encoded.json)).not.toContain(payloads[0]?.data);
  const decoded = await post(`${editing.url}/decode`, encoded.json);
  expect(valuesOf(decoded.json)).toEqual([beneficiary]);
});

it.each([
  ["another namespace", "/decode", { "x-namespace": "other" }, { payloads: [] }, 403],
  ["a namespace that is wrongly encoded", "/%ff/decode", {}, { payloads: [] }, 400],
  ["another path", "/keys", {}, { payloads: [] }, 404],
  ["no JSON", "/decode", {}, "{", 400],
  ["no payloads", "/decode", {}, { payloads: [{ data: 7 }] }, 400],
])("refuses %s", async (_, path, headers, body, expected) => {
  const { url } = await start();
  expect((await post(`${url}${path}`, body, headers)).status).toBe(expected);
});

it("answers what cannot be decoded as it was sent, and says so where no key can be read", async () => {
  const { url } = await start();
  const payload = await encrypted(beneficiary);
  const spoilt = { ...payload, data: base64(randomBytes(64)) };
  const { json } = await post(`${url}/decode`, { payloads: [spoilt] });
  expect(json.payloads).toEqual([spoilt]);
  const blind = await start({
    dataConverter: encryptedDataConverter({
      namespace: "payments",
      keys: openKeyring(join(folder, "none")),
    }),
  });
  expect((await post(`${blind.url}/decode`, { payloads: [payload] })).status).toBe(503);
});

it("refuses to answer other machines in plain text", async () => {
  await expect(start({ host: "0.0.0.0" })).rejects.toThrow("in plain text");
});

it("knows users by their tokens, as the file has them now", async () => {
  const file = join(folder, "users.json");
  const write = (users: unknown) => writeFile(file, JSON.stringify(users));
  const tokenSha256 = createHash("sha256").update("t0ken").digest("hex");
  await write([{ name: "ada", role: "masked", tokenSha256 }]);
  const { url } = await start({ authenticate: await authenticateByFile(file) });
  const statusOf = async (headers: Readonly<Record<string, string>>) =>
    (await post(`${url}/decode`, { payloads: [] }, headers)).status;
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ authorization: "Bearer other" })).toBe(401);
  expect(await statusOf({ authorization: "Bearer t0ken" })).toBe(200);
  await write([]);
  expect(await statusOf({ authorization: "Bearer t0ken" })).toBe(401);
  await rename(file, `${file}.gone`);
  expect(await statusOf({ authorization: "Bearer t0ken" })).toBe(500);
});

it("knows users by tokens that an issuer has signed", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const other = await generateKeyPair("ES256");
  const jwks = createServer((_, response) => {
    void exportJWK(publicKey).then((jwk) =>
      response.end(JSON.stringify({ keys: [{ ...jwk, kid: "1", alg: "ES256" }] })),
    );
  }).listen(0, "127.0.0.1");
  await once(jwks, "listening");
  onTestFinished(() => void jwks.close());
  const address = jwks.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const issuer = {
    jwksUrl: `http://127.0.0.1:${port}/`,
    issuer: "https://sso.example.com",
    audience: "codec",
  };
  const file = join(folder, "signed.json");
  await writeFile(file, JSON.stringify([{ name: "support", role: "masked", group: "support" }]));
  const authenticate = await authenticateByFile(file, issuer);
  const token = (groups: ReadonlyArray<string>, key = privateKey, audience = "codec") =>
    new SignJWT({ email: "ada@bank.example", groups: [...groups] })
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(issuer.issuer)
      .setAudience(audience)
      .setExpirationTime("5m")
      .sign(key);
  const authenticated = async (given: Promise<string>) => authenticate(`Bearer ${await given}`);
  expect(await authenticated(token(["support"]))).toEqual({
    name: "ada@bank.example",
    role: "masked",
  });
  expect(await authenticated(token(["sales"]))).toBeUndefined();
  expect(await authenticated(token(["support"], other.privateKey))).toBeUndefined();
  expect(await authenticated(token(["support"], privateKey, "other"))).toBeUndefined();
  expect(await authenticate("Bearer x.y.z")).toBeUndefined();
});

it.each([
  ["no JSON", "{"],
  ["no list", "{}"],
  ["an unknown role", '[{"name":"ada","role":"root","group":"g"}]'],
  ["neither token nor claim", '[{"name":"ada","role":"reader"}]'],
])("refuses a file of users with %s", async (_, content) => {
  const file = join(folder, "wrong.json");
  await writeFile(file, content);
  await expect(authenticateByFile(file)).rejects.toThrow("The file of users");
});
