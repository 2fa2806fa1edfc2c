// Plain JavaScript: it runs at every start, and the first TypeScript costs Node 40 ms.
import { createHash } from "node:crypto";
import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";

/** The file of a folder that has what its other files are. */
const RECORD = "integrity.json";

const CHUNK_BYTES = 1024 * 1024;
const GROUP_WRITES = 0o020n;
const OTHERS_WRITE = 0o002n;

/** A folder that has no record, as one that was made by an earlier version. */
export class NotRecorded extends Error {
  name = "NotRecorded";
}

/** A folder that is not as it was recorded, or that others can write: what is in it must not run. */
export class NotIntact extends Error {
  name = "NotIntact";
}

const sha256Of = (file) => {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const descriptor = openSync(file, "r");
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      hash.update(read === CHUNK_BYTES ? chunk : chunk.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
  return hash.digest("hex");
};

/** Why others than this user and root can change a file or folder; undefined where they cannot. */
const whyOthersCanWrite = (path, { gid, mode, uid }) => {
  // Windows has no such modes.
  if (process.getuid === undefined) return undefined;
  if (uid !== 0n && uid !== BigInt(process.getuid())) {
    return `${path} belongs to another user`;
  }
  // The group of its own that a user has on many systems has nobody else in it.
  const isOfOthers =
    (mode & OTHERS_WRITE) !== 0n ||
    ((mode & GROUP_WRITES) !== 0n && gid !== BigInt(process.getgid()));
  return isOfOthers ? `others can write to ${path} (chmod go-w ${path})` : undefined;
};

/**
 * Check that nobody but this user and root can change a file, or what is in a folder itself.
 *
 * @param {string} path
 * @throws NotIntact
 */
export const refuseWritableByOthers = (path) => {
  const why = whyOthersCanWrite(path, lstatSync(path, { bigint: true }));
  if (why !== undefined) throw new NotIntact(why);
};

/** The system changes it with every change of a file, and lets nobody set it. */
const identityOf = ({ ctimeNs, ino, mtimeNs, size }) => [ino, size, mtimeNs, ctimeNs].join(":");

/** Everything in a folder but its record: the path of each from there, and what the system says of it. */
const entriesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    // Nor a record that another process writes.
    .filter((path) => !path.startsWith(join(folder, RECORD)))
    .toSorted()
    .map((path) => ({
      path,
      name: relative(folder, path).replaceAll("\\", "/"),
      stat: lstatSync(path, { bigint: true }),
    }));

const writeRecord = (folder, files) => {
  const partial = join(folder, `${RECORD}-${process.pid}`);
  writeFileSync(partial, `${JSON.stringify({ files }, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, join(folder, RECORD));
};

/**
 * Record what the files of a folder are, by their SHA-256.
 *
 * @param {string} folder
 */
export const recordFiles = (folder) => {
  const files = entriesOf(folder).filter(({ stat }) => !stat.isDirectory());
  writeRecord(
    folder,
    Object.fromEntries(
      files.map(({ name, path, stat }) => [
        name,
        { sha256: sha256Of(path), identity: identityOf(stat) },
      ]),
    ),
  );
};

const recordedFiles = (folder) => {
  let text;
  try {
    text = readFileSync(join(folder, RECORD), "utf8");
  } catch {
    throw new NotRecorded(`what is in ${folder} was not recorded when it was made`);
  }
  try {
    const { files } = JSON.parse(text);
    return new Map(Object.entries(files));
  } catch {
    throw new NotIntact(`${join(folder, RECORD)} is no record`);
  }
};

/**
 * Check that a folder holds the files that were recorded, as they were then, and that nobody else can change them. A
 * file that the system says was not touched since is not read again.
 *
 * @param {string} folder
 * @throws NotRecorded, NotIntact: the message says what is wrong
 */
export const verifyFiles = (folder) => {
  refuseWritableByOthers(folder);
  const recorded = recordedFiles(folder);
  refuseWritableByOthers(join(folder, RECORD));
  const found = {};
  let isRenewed = false;
  for (const { name, path, stat } of entriesOf(folder)) {
    const was = recorded.get(name);
    if (!stat.isDirectory() && (was === undefined || !stat.isFile())) {
      throw new NotIntact(`${path} was not there when it was made`);
    }
    const why = whyOthersCanWrite(path, stat);
    if (why !== undefined) throw new NotIntact(why);
    if (stat.isDirectory()) continue;
    const identity = identityOf(stat);
    if (identity !== was.identity) {
      if (sha256Of(path) !== was.sha256) {
        throw new NotIntact(`${path} is not as it was made: its SHA-256 differs`);
      }
      isRenewed = true;
    }
    found[name] = { sha256: was.sha256, identity };
    recorded.delete(name);
  }
  const [missing] = recorded.keys();
  if (missing !== undefined) throw new NotIntact(`${join(folder, missing)} is missing`);
  if (!isRenewed) return;
  try {
    writeRecord(folder, found);
  } catch {
    // A folder that cannot be written is as good; it takes longer each time.
  }
};
