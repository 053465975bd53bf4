// The fields of the app's schema for a user, as rules and a model read them.
import { erase, request } from "../api.mjs";

const user = "profile-ada";

export const pictures = [];

export async function prepare() {
  await erase(user);
  await request("PUT", "/v1/profile-schema", {
    type: "object",
    properties: {
      city: { type: "string", description: "Where the user lives.", "x-attribute": "home" },
      employer: { type: "string", "x-attribute": "employer" },
      allergies: { type: "array", items: { type: "string" }, description: "What the user must not eat." },
    },
  });
  const messages = [{ role: "user", content: "I live in Porto and work at Siemens." }];
  await request("POST", "/v1/turns", { user_id: user, wait: true, at: "2026-05-01T08:00:00Z", messages });
}

export const address = () => `#/profile?user=${user}`;

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  const said = zh ? /city Porto .*由规则读出 2026年5月1日 0.95/ : /city Porto I live in Porto.*by rules 1 May 2026 0.95/;
  await page.getByRole("row", { name: said }).waitFor();
  await page.getByRole("row", { name: /employer Siemens I work at Siemens.*0.95/ }).waitFor();
  await page.getByRole("row", { name: zh ? /allergies 未知/ : /allergies not known/ }).waitFor();
  await page.getByText(zh ? "未配置聊天模型" : "No chat model is configured").waitFor();
}

export async function act(page, _, { forgive }) {
  // The server of this test has no model, so the answers are given here.
  const fields = { allergies: { value: ["peanuts", "kiwi"], at: "2026-05-02T08:00:00Z", confidence: 0.9, by: "model", sources: [] } };
  const answer = { user_id: user, at: "2026-05-03T08:00:00Z", schema_version: 1, fields };
  await page.route("**/profile/fields?ask=false", (route) =>
    route.fulfill({ json: { ...answer, state: "not_asked", fields: { allergies: null } } }),
  );
  await page.route("**/profile/fields?ask=true", (route) => route.fulfill({ json: { ...answer, state: "complete" } }));
  await page.reload();
  await page.getByRole("row", { name: "allergies not known" }).waitFor();
  await page.getByRole("button", { name: "Ask the model" }).click();
  await page.getByRole("row", { name: "allergies peanuts, kiwi by the model 2 May 2026 0.90" }).waitFor();
  await page.getByRole("button", { name: "Ask the model" }).waitFor({ state: "detached" });
  await page.unroute("**/profile/fields?ask=false");

  await request("DELETE", "/v1/profile-schema");
  await page.reload();
  await page.getByText("The app has no schema of profiles").waitFor();
  forgive(/status of 404/);
}
