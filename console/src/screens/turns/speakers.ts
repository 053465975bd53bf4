import type { Schema } from "../../api/client";

type Turn = Schema<"Turn">;

/** speakerOf is who says a message: in a user's copy of a turn of several people, the user's own messages have no name. */
export const speakerOf = ({ name, role }: Schema<"StoredMessage">, { shared }: Turn): string =>
  name ?? (role === "user" ? shared?.name : undefined) ?? role;

/** speakersOf returns who speaks in turns of several people: the participants with their ids, then the guests. */
export function speakersOf(turns: Turn[], people: Schema<"GroupMember">[]): { name: string; user?: string }[] {
  const users = people.map(({ name, user_id }) => ({ name, user: user_id }));
  const named = turns.filter(({ shared }) => shared).flatMap(({ messages }) => messages ?? []);
  const guests = new Set(named.flatMap(({ name }) => name ?? []));
  for (const { name } of people) guests.delete(name);
  return [...users, ...[...guests].map((name) => ({ name }))];
}
