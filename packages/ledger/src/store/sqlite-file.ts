import { closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { LedgerUnavailable, messageOf } from "../errors.ts";

/** File systems of a network by the type that `statfs` gives: locks and shared memory do not hold there. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x01021997, "9P"],
]);

/** Returns the error of a file that cannot be the ledger. */
export const cannotOpen = (file: string, why: string): LedgerUnavailable =>
  new LedgerUnavailable(
    `the ledger's file ${file} cannot be opened for writing (${why}); make its folder writable, or name another file by PAYMENTS_LEDGER=sqlite:FILE`,
  );

/** Node's own `recursive` tries for ever where a folder exists in which none can be made, such as /proc. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // Another worker that starts at the same moment may have made it.
    if (!existsSync(folder)) throw error;
  }
};

/** Makes the file, readable by its owner alone. Returns what tells whether it is still that file. */
export const prepareFile = (file: string): (() => boolean) => {
  try {
    makeFolder(dirname(file));
    // To open a pipe for writing waits until somebody reads it.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      throw cannotOpen(file, "it is a folder, a device or a pipe, not a regular file");
    }
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw error instanceof LedgerUnavailable ? error : cannotOpen(file, messageOf(error));
  }
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(file).type);
  if (network !== undefined) {
    throw cannotOpen(
      file,
      `it lies on a network's file system, ${network}, which does not keep two hosts apart: use a disk of this host, or PostgreSQL`,
    );
  }
  const { dev, ino } = statSync(file);
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.ino === ino && found.dev === dev;
  };
};
