// A conversation of several people: the log of one of them names the speakers, the others lead to
// their own logs, and a copy leads to the reported turn.
import { erase, request } from "../api.mjs";

const users = ["people-ana", "people-ben"];

export const pictures = [];

export async function prepare() {
  await erase(...users);
  return request("POST", "/v1/turns", {
    user_id: users[0], conversation_id: "people-trip", wait: true, participants: { Ana: users[0], Ben: users[1] },
    messages: [
      { role: "user", name: "Ana", content: "I live in Lisbon. Ben is allergic to peanuts." },
      { role: "user", name: "Ben", content: "I have a dog named Rex." },
      { role: "assistant", content: "Good to know." },
    ],
  });
}

export const address = () => `#/conversations/people-trip?user=${users[1]}`;

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  await page.getByText(zh ? "Ben（该用户）" : "Ben (this user)", { exact: true }).waitFor();
  const log = page.locator("main ol li");
  await log.getByText("Ben", { exact: true }).waitFor(); // in this copy the message has no name
  await log.getByText("assistant", { exact: true }).waitFor();
}

export async function act(page, { id }) {
  await page.getByRole("link", { name: `Ana (${users[0]})` }).click();
  await page.getByText("Ana (this user)", { exact: true }).waitFor();
  await page.getByRole("link", { name: `Ben (${users[1]})` }).click();
  await page.getByText("Ben (this user)", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Candidates and verdicts" }).click();
  await page.getByText("Takes part as").waitFor();
  await page.getByRole("definition").filter({ hasText: /^Ben$/ }).waitFor();
  await page.getByRole("article").filter({ hasText: "I have a dog named Rex." }).getByText("Ben", { exact: true }).waitFor();
  await page.getByRole("link", { name: id }).click();
  await page.getByRole("definition").filter({ hasText: /^Ana$/ }).waitFor();
}
