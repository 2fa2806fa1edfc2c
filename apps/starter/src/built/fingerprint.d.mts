/** What a built command line was made of. */
export interface Manifest {
  /** Files of the checkout, relative to its root. */
  readonly inputs: ReadonlyArray<string>;
  /** SHA-256 of what they held, and of what was installed. */
  readonly hash: string;
}

/** Where the build puts the command line. */
export declare const builtFolder: URL;

/** The file that tells what the command line in a folder was made of. */
export declare const manifestIn: (folder: URL) => URL;

/** SHA-256 of what these files of the checkout hold, and of what is installed. */
export declare const hashOf: (inputs: ReadonlyArray<string>) => string;

/** The command line in a folder, where it was built of the sources that are there now. */
export declare const builtCli: (folder?: URL) => URL | undefined;
