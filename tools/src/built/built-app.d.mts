/** The apps that are built into a few files, so that they start sooner. */
export type BuiltApp = "starter" | "worker";

/** What a built app was made of. */
export interface Manifest {
  /** Files of the checkout, relative to its root. */
  readonly inputs: ReadonlyArray<string>;
  /** SHA-256 of what they held, and of what was installed. */
  readonly hash: string;
}

/** Whether an app of this name is built. */
export declare const isBuiltApp: (name: string) => name is BuiltApp;

/** The source file that runs the app. */
export declare const entryOf: (app: BuiltApp) => URL;

/** Where the build puts the app. */
export declare const folderOf: (app: BuiltApp) => URL;

/** The file that tells what the app in a folder was made of. */
export declare const manifestIn: (folder: URL) => URL;

/** Where Node keeps what it has compiled of the app in a folder. */
export declare const cacheIn: (folder: URL) => URL;

/** SHA-256 of what these files of the checkout hold, and of what is installed. */
export declare const hashOf: (inputs: ReadonlyArray<string>) => string;

/** The file that runs the app in a folder, where it was built of the sources that are there now. */
export declare const builtMain: (folder: URL) => URL | undefined;
