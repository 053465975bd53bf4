import type { Schema } from "../../api/client";
import type { paths } from "../../api/schema";
import { instant } from "../../state/format";

/** Query is that of GET /v1/memories. */
export type Query = NonNullable<paths["/v1/memories"]["get"]["parameters"]["query"]>;

/** The parameters of the screen's address, in addition to the user. */
export const names = ["text", "status", "type", "domain", "tags", "metadata", "agent", "since", "until"] as const;

/** valueOf reads a value of metadata as JSON has it: true, 7 and "7" differ. */
function valueOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? text : value;
  } catch {
    return text;
  }
}

/** queryOf makes the request of the list from the screen's address. */
export function queryOf(user: string, address: URLSearchParams): Query {
  const query: Query = { user_id: user };
  const filter: Record<string, unknown> = {};
  const given = (name: (typeof names)[number]) => address.get(name) ?? "";
  if (given("text")) filter.content = { icontains: given("text") };
  const [key, ...rest] = given("metadata").split("=");
  if (key && rest.length > 0) filter.metadata = { [key.trim()]: valueOf(rest.join("=").trim()) };
  if (Object.keys(filter).length > 0) query.filter = JSON.stringify(filter);
  if (given("status")) query.status = [given("status") as Schema<"MemoryStatus">];
  if (given("type")) query.type = [given("type") as Schema<"MemoryType">];
  if (given("domain")) query.domain = [given("domain") as Schema<"Domain">];
  const tags = given("tags").split(/[,,]/).map((tag) => tag.trim()).filter(Boolean);
  if (tags.length > 0) query.tag = tags;
  if (given("agent")) query.agent_id = given("agent");
  if (given("since")) query.since = instant(`${given("since")}T00:00`);
  if (given("until")) query.until = instant(`${given("until")}T00:00`);
  return query;
}
