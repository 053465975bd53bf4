/** Router holds the address after #: `#/memories/ID?user=u-17` has the path ["memories", "ID"]. */
class Router {
  path = $state<string[]>([]);
  query = $state(new URLSearchParams());

  /** user is the user whose memories the screens show. Links made by `href` keep it. */
  user = $derived(this.query.get("user") ?? ""); // effects that read it do not run for other parameters

  constructor() {
    this.read();
    addEventListener("hashchange", () => this.read());
  }

  private read(): void {
    const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
    this.path = path.split("/").filter(Boolean).map(decoded);
    this.query = new URLSearchParams(query);
  }

  /** go opens an address, by default as a new entry of the browser's history. */
  go(address: string, replace = false): void {
    if (address === location.hash) return;
    if (replace) location.replace(address);
    else location.hash = address;
  }

  /** set changes parameters of the query in place; empty ones are left out. */
  set(changes: Record<string, string | string[]>): void {
    const query = new URLSearchParams(this.query);
    for (const [name, values] of Object.entries(changes)) {
      query.delete(name);
      for (const value of [values].flat()) if (value) query.append(name, value);
    }
    this.go(addressOf(this.path, query), true);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function addressOf(path: string[], query: URLSearchParams): string {
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

export const router = new Router();

/** href is the address of a screen, with the user of the present one unless the query names another. */
export function href(path: string | string[], query: Record<string, string> = {}): string {
  const all = { user: router.user, ...query };
  const given = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ""));
  return addressOf(typeof path === "string" ? path.split("/") : path, given);
}
