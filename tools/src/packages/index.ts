export { strangersEnvironment } from "./environment.ts";
export { PUBLISHED, readManifest } from "./manifests.ts";
export { installTarball, packPackages } from "./pack.ts";
