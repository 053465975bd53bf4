import type { Schema } from "../../api/client";

type Turn = Schema<"Turn">;

/** speakerOf is who says a message: in a user's copy of a turn of several people, the user's own messages have no name. */
export const speakerOf = ({ name, role }: Schema<"StoredMessage">, { shared }: Turn): string =>
  name ?? (role === "user" ? shared?.name : undefined) ?? role;

/** speakersOf returns who speaks in turns of several people; `own` are the names of the user whose copies they are. */
export function speakersOf(turns: Turn[]): { name: string; own: boolean }[] {
  const shared = turns.filter((turn) => turn.shared);
  const own = shared.flatMap((turn) => turn.shared?.name ?? []);
  const others = shared.flatMap((turn) => turn.messages ?? []).flatMap((message) => message.name ?? []);
  return [...new Set([...own, ...others])].map((name) => ({ name, own: own.includes(name) }));
}
