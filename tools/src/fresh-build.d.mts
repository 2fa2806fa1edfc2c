/** The main file of a bundled app, or undefined where there is none, it was not recorded, or a source is newer; throws where it is not as it was built. */
export declare const freshBuild: (checkout: string, app: string) => string | undefined;
