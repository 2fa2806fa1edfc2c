export { strangersEnvironment } from "./environment.ts";
export { type Entry, PUBLISHED, readManifest } from "./manifests.ts";
export { installTarball, packPackages } from "./pack.ts";
