import { it } from "vitest";
import { expectRepaired } from "./support/repairing.ts";
import { makeRig } from "./support/rig.ts";

const rig = await makeRig({ verifyAfter: 0 });

it("40 failed onboardings of five kinds are repaired once, while terminal and worker are killed", async () => {
  await expectRepaired(rig, 40);
}, 900_000);
