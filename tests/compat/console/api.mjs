// What a screen's module uses to create its data: requests to the API as the app's administrator.
const url = process.env.COMPAT_URL;

/** request sends JSON and returns the JSON of the answer. It throws if the answer is an error. */
export async function request(method, path, body, key = process.env.COMPAT_ADMIN_KEY) {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answers ${response.status}: ${text}`);
  return text && JSON.parse(text);
}

/** remember writes a memory and returns it. */
export const remember = (user, content, fields = {}) =>
  request("POST", "/v1/memories", { user_id: user, content, ...fields });

/** replace writes a memory, and then one that takes its place. It returns the one that was superseded. */
export async function replace(user, before, after) {
  const at = new Date(Date.now() - 86_400_000).toISOString();
  const { id } = await remember(user, before, { dedup: true, at });
  await remember(user, after, { dedup: true });
  const memory = await request("GET", `/v1/memories/${id}`);
  if (memory.status !== "superseded") throw new Error(`${before} is ${memory.status}`);
  return memory;
}

/** erase removes what is kept of users. */
export async function erase(...users) {
  for (const user of users) await request("DELETE", `/v1/users/${user}`);
}

/** importOld imports a memory that was last changed at an instant and condenses others, and returns its id. */
export async function importOld(user, content, at, fields = {}, condenses = []) {
  const id = crypto.randomUUID();
  const memory = {
    id, user_id: user, content, type: "fact", domain: "general_chat", tags: [], importance: 0.4, pinned: false,
    status: "active", created_at: at, updated_at: at, last_accessed_at: at, access_count: 0, ...fields,
  };
  const lines = [
    { format: "hippocampus-export", version: 1, exported_at: at },
    { memory, events: [], relations: condenses.map((to) => ({ from: id, kind: "derived_from", to, created_at: at })) },
    { end: { memories: 1 } },
  ];
  const response = await fetch(`${url}/v1/import`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.COMPAT_ADMIN_KEY}`, "Content-Type": "application/x-ndjson" },
    body: lines.map((line) => JSON.stringify(line) + "\n").join(""),
  });
  if (!response.ok) throw new Error(`the import answers ${response.status}: ${await response.text()}`);
  return id;
}

/** eventually repeats a check until it returns something true. */
export async function eventually(what, check) {
  for (let tries = 0; tries < 300; tries++) {
    const value = await check();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`this did not happen within 30 s: ${what}`);
}
