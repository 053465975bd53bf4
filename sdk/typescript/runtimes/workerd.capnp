using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "client", worker = (
      modules = [(name = "worker", esModule = embed "../build/worker.js")],
      compatibilityDate = "2026-01-01",
      bindings = [(name = "url", fromEnvironment = "COMPAT_URL"), (name = "key", fromEnvironment = "COMPAT_ADMIN_KEY")],
      globalOutbound = "network",
    )),
    (name = "network", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "client")],
);
