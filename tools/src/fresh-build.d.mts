/** The main file of a bundled app, or undefined where there is none or a source is newer. */
export declare const freshBuild: (checkout: string, app: string) => string | undefined;
