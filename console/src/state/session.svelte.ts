import type { Problem, Schema } from "../api/client";

export type Key = Schema<"CallerKey">;
export type Role = Key["role"];

const stored = "hippocampus.key";
const roles: Role[] = ["read", "write", "admin", "operator"];

/** Session is who uses the console: the key in sessionStorage and what the server knows of it. */
class Session {
  secret = $state(sessionStorage.getItem(stored) ?? "");
  key = $state<Key>();
  refusal = $state<Problem>();

  /** remembers reports whether a key was entered before in this tab. */
  get remembers(): boolean {
    return sessionStorage.getItem(stored) !== null;
  }

  begin(secret: string): void {
    this.secret = secret;
    this.refusal = undefined;
  }

  /** accept keeps the key for this tab, after the server has answered it. */
  accept(key: Key): void {
    sessionStorage.setItem(stored, this.secret);
    this.key = key;
  }

  end(): void {
    sessionStorage.removeItem(stored);
    this.secret = "";
    this.key = undefined;
  }

  refuse(problem: Problem): void {
    this.end();
    this.refusal = problem;
  }

  /** may reports whether the key's role includes another. */
  may(role: Role): boolean {
    return this.key !== undefined && roles.indexOf(this.key.role) >= roles.indexOf(role);
  }

  /** pools reports whether the key may promote memories to the shared pool, and withdraw them. */
  get pools(): boolean {
    return this.may("write") && this.key?.pool === "write";
  }
}

export const session = new Session();
