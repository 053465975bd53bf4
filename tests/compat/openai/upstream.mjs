// What the clients for JavaScript share: the packages, and what the scripted model got.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The packages are those of the first node_modules on PATH.
const packages = process.env.PATH.split(":").find((folder) => folder.endsWith("/node_modules/.bin"));
const { resolve } = createRequire(packages + "/../../");

/** Returns the exports of a package. */
export const load = (name) => import(pathToFileURL(resolve(name)));

export const upstream = process.env.COMPAT_UPSTREAM + "/v1";
export const proxy = process.env.COMPAT_URL + "/proxy/v1";
export const text = "I am a scripted model.";
export const afterTool = "The tool has answered.";
export const parameters = { type: "object", properties: { city: { type: "string" } } };

/** Returns the body that the model got last, as text. */
export async function last() {
  return (await (await fetch(process.env.COMPAT_UPSTREAM + "/last")).json()).body;
}

export async function assertKnows(known) {
  assert.equal((await last()).includes("Lisbon"), known, await last());
}

/** Runs the step that the command line names. */
export const run = (steps) => steps[process.argv[2]]();
