import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The names in dist hold no hashes: the server adds ETags, and diffs of dist stay small.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { entryFileNames: "[name].js", assetFileNames: "[name].[ext]", codeSplitting: false },
    },
  },
  // `npm run dev` shows the console with the API of a server on this machine.
  server: { proxy: { "/v1": "http://127.0.0.1:8080", "/readyz": "http://127.0.0.1:8080" } },
});
