export { describePause, findPause, type PausedSends, pauseSends, resumeSends } from "./pause.ts";
