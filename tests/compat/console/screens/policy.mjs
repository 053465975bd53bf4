// The app's policy: the version that serves, and an earlier one.
import { request } from "../api.mjs";

export const pictures = [];

export async function prepare() {
  await request("PUT", "/v1/policy", { never: { terms: ["horoscope"] }, note: "no horoscopes" });
  await request("PUT", "/v1/policy", {
    keep: { instructions: "What the user cooks and avoids.", types: ["preference"], domains: ["lifestyle_and_interests"] },
    never: { terms: ["horoscope", "lottery"], patterns: ["(?i)ticket-\\d{6}"] },
    categories: [{ name: "diet", description: "What the user eats or avoids.", terms: ["vegan", "vegetarian"] }],
    note: "no lotteries either",
  });
  await request("PUT", "/v1/policy", {
    keep: { instructions: "What the user cooks and avoids.", terms: ["allergic"] },
    never: { terms: ["horoscope", "lottery"], patterns: ["(?i)ticket-\\d{6}"] },
    categories: [{ name: "diet", description: "What the user eats or avoids.", terms: ["vegan", "vegetarian"] }],
    note: "keeps every type",
  });
}

export const address = () => "#/policy";

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  await page.getByText("keeps every type").waitFor();
  await page.getByRole("region", { name: zh ? /^保留$/ : /^Keeps$/ }).getByText("allergic").waitFor();
  const never = page.getByRole("region", { name: zh ? "绝不保留" : "Never keeps" });
  await never.getByText("lottery").waitFor();
  await never.getByText("(?i)ticket-\\d{6}").waitFor();
  await page.getByRole("region", { name: zh ? "类别" : "Categories" }).getByText("vegan, vegetarian").waitFor();
  await page.getByText(zh ? "未配置聊天模型" : "No chat model is configured").waitFor();
}

export async function act(page) {
  const { version } = await request("GET", "/v1/policy");
  await page.getByLabel("Version").selectOption({ label: `${version - 1}` });
  await page.getByText("no lotteries either").waitFor();
  await page.getByRole("region", { name: "Keeps", exact: true }).getByText("preference", { exact: true }).waitFor();
  await page.getByLabel("Version").selectOption({ label: `${version - 2}` });
  await page.getByText("no horoscopes").waitFor();
  await page.getByRole("region", { name: "Keeps", exact: true }).getByText("No rules.").waitFor();
}
