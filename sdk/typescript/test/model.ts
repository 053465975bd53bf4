import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a model with OpenAI's API that answers "I see.", in two pieces if it is asked to stream. Returns its URL and the
 * bodies that it gets.
 */
export async function startModel(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    bodies.push(body);
    const json = (choice: object) =>
      JSON.stringify({ id: "1", created: 1, model: "m", choices: [{ index: 0, ...choice }] });
    if (!(JSON.parse(body) as { stream?: boolean }).stream) {
      response.setHeader("Content-Type", "application/json");
      response.end(json({ message: { role: "assistant", content: "I see." }, finish_reason: "stop" }));
      return;
    }
    response.setHeader("Content-Type", "text/event-stream");
    const pieces = [{ delta: { content: "I " } }, { delta: { content: "see." } }, { delta: {}, finish_reason: "stop" }];
    response.end(`${pieces.map((piece) => `data: ${json(piece)}\n\n`).join("")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}
