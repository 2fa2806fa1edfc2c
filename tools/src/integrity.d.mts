/** A folder that has no record, as one that was made by an earlier version. */
export class NotRecorded extends Error {}
/** A folder that is not as it was recorded, or that others can write: what is in it must not run. */
export class NotIntact extends Error {}
/**
 * Check that nobody but this user and root can change a file, or what is in a folder itself.
 *
 * @throws NotIntact
 */
export const refuseWritableByOthers: (path: string) => void;
/** Record what the files of a folder are, by their SHA-256. */
export const recordFiles: (folder: string) => void;
/**
 * Check that a folder holds the files that were recorded, as they were then, and that nobody else can change them.
 *
 * @throws NotRecorded, NotIntact: the message says what is wrong
 */
export const verifyFiles: (folder: string) => void;
