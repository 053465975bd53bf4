import { api, ask } from "../api/client";
import { Load } from "./load.svelte";

/** Zone is the time zone in which dates are shown and entered: that of a user, or the browser's. */
class Zone {
  private readonly known = new Load<string>();
  private user = "";

  /** name is an IANA name or an offset; undefined: the browser's zone. */
  get name(): string | undefined {
    return this.known.value;
  }

  /** follow asks for the zone of a user. Without a user, or if the browser does not know the zone, its own is used. */
  follow(user: string): void {
    if (user === this.user) return;
    this.user = user;
    this.known.clear();
    if (!user) return;
    void this.known.run(async (signal) => {
      const params = { path: { user_id: user } };
      const { zone } = await ask(api.GET("/v1/users/{user_id}/settings", { params, signal }));
      new Intl.DateTimeFormat("en", { timeZone: zone }); // throws if the browser does not know the zone
      return zone;
    });
  }
}

export const zone = new Zone();
