export { strangersEnvironment } from "./environment.ts";
export { type Installed, installPackages } from "./install.ts";
export { findNode, type NodeBinary } from "./node-binary.ts";
export { packPackages, type Tarballs } from "./pack.ts";
export { type PublicPackage, publicPackages } from "./public-packages.ts";
export { takeTarballs } from "./take-tarballs.ts";
