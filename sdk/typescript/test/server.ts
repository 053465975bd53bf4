// The server that the tests use: the one of scripts/compat, or one of their own on the embedded size.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hippocampus } from "hippocampus-memory";

export interface Server {
  url: string;
  /** An admin key. */
  key: string;
}

/** The folder of the package. */
export const packageFolder = fileURLToPath(new URL("../..", import.meta.url));

/** The root of the repository. */
export const repository = process.env.HIPPOCAMPUS_REPOSITORY ?? join(packageFolder, "../..");

/** Reads a JSON file of sdk/testdata. */
export function testdata<T>(name: string): T {
  return JSON.parse(readFileSync(join(repository, "sdk/testdata", name), "utf8")) as T;
}

/** Returns a server that ends with this process. */
export async function startServer(): Promise<Server> {
  const { COMPAT_URL, COMPAT_ADMIN_KEY } = process.env;
  if (COMPAT_URL && COMPAT_ADMIN_KEY) return { url: COMPAT_URL, key: COMPAT_ADMIN_KEY };
  const binary = process.env.HIPPOCAMPUS_BINARY ?? join(packageFolder, "build/hippocampus");
  const folder = mkdtempSync(join(tmpdir(), "hippocampus-"));
  const program = spawn(binary, ["serve", "--data", folder, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(HIPPOCAMPUS_|MILVUS_|MEMORY_|DATABASE_URL)/.test(name)),
    ),
  });
  process.once("exit", () => {
    program.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  let banner = "";
  for await (const piece of program.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    banner += piece;
    const url = /listening on (\S+)/.exec(banner)?.[1];
    const key = /Admin key, .*: (\S+)\n/.exec(banner)?.[1];
    if (!url || !key) continue;
    program.unref();
    (program.stdout as unknown as Socket).unref();
    return { url, key };
  }
  throw new Error("the server does not start");
}

let users = 0;

/** Returns a user id that no other test has. */
export const newUser = () => `ts-${process.pid}-${Date.now()}-${users++}`;

/** Returns all that an iterable yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Waits until a condition holds. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await condition()); ) {
    if (Date.now() > end) throw new Error("the condition does not hold in time");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A relay to a server: a client of it, how many connections it has, and a function that cuts them. */
export interface Relay {
  client: Hippocampus;
  connections: () => number;
  cut: () => void;
}

export async function startRelay(server: Server): Promise<Relay> {
  const { hostname, port } = new URL(server.url);
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  relay.unref();
  const client = new Hippocampus({
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    key: server.key,
    sleep: async () => undefined,
  });
  const cut = () => {
    assert.ok(sockets.size > 0);
    for (const socket of sockets) socket.destroy();
  };
  return { client, connections: () => sockets.size, cut };
}
