import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import forge from "node-forge";

/** A certificate and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateOptions {
  readonly commonName: string;
  /** Host names of a server. */
  readonly names?: ReadonlyArray<string>;
  /** Days from now; before now where it has expired. */
  readonly validForDays?: number;
  /** By default it signs itself. */
  readonly signedBy?: Certificate;
  readonly isAuthority?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DNS = 2;

/** Makes a certificate with a key of its own. */
export const makeCertificate = ({
  commonName,
  isAuthority = false,
  names = [],
  signedBy,
  validForDays = 2,
}: CertificateOptions): Certificate => {
  const { privateKey: key } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const privateKey = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(privateKey.n, privateKey.e);
  certificate.serialNumber = "01";
  certificate.validity.notBefore = new Date(Date.now() - 10 * DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + validForDays * DAY_MS);
  const subject = [{ name: "commonName", value: commonName }];
  certificate.setSubject(subject);
  certificate.setIssuer(
    signedBy === undefined
      ? subject
      : forge.pki.certificateFromPem(signedBy.cert).subject.attributes,
  );
  certificate.setExtensions([
    { name: "basicConstraints", cA: isAuthority, critical: true },
    ...(names.length === 0
      ? []
      : [{ name: "subjectAltName", altNames: names.map((value) => ({ type: DNS, value })) }]),
  ]);
  certificate.sign(
    signedBy === undefined ? privateKey : forge.pki.privateKeyFromPem(signedBy.key),
    forge.md.sha256.create(),
  );
  return { cert: forge.pki.certificateToPem(certificate), key };
};

const SETTINGS = { ca: "caFile", cert: "clientCertFile", key: "clientKeyFile" } as const;

const root = mkdtempSync(join(tmpdir(), "certificates-"));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

/** Writes certificates and a key to files, and returns the settings that name them. */
export const tlsFiles = (
  texts: Partial<Certificate & { readonly ca: string }>,
  folder: string = mkdtempSync(join(root, "files-")),
): Readonly<Record<string, string>> => {
  return Object.fromEntries(
    // The object's own keys.
    (Object.entries(texts) as Array<[keyof typeof SETTINGS, string]>).map(([name, text]) => {
      const file = join(folder, `${name}.pem`);
      writeFileSync(file, text);
      return [SETTINGS[name], file];
    }),
  );
};
