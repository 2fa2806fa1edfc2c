export { describePause, findPause, pauseSends, resumeSends } from "./pause.ts";
