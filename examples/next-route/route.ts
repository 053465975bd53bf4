// A chat route whose model remembers each user: app/api/chat/route.ts of a Next.js app, or any handler of Web requests.
// The page is one with useChat of the AI SDK.
//
//   npm install ai @ai-sdk/openai-compatible, and hippocampus-memory as sdk/typescript/README.md shows
//   HIPPOCAMPUS_URL and HIPPOCAMPUS_KEY   the memory server, and a key of the role write
//   MODEL_URL, MODEL_KEY and MODEL        a model with OpenAI's API; by default one of Ollama

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
  wrapLanguageModel,
} from "ai";
import { Hippocampus } from "hippocampus-memory";
import { memory } from "hippocampus-memory/ai-sdk";

const { MODEL_URL = "http://127.0.0.1:11434/v1", MODEL_KEY = "", MODEL = "llama3.2" } = process.env;
const model = createOpenAICompatible({ name: "model", baseURL: MODEL_URL, apiKey: MODEL_KEY })(MODEL);
const client = new Hippocampus();

export async function POST(request: Request): Promise<Response> {
  const user_id = userOf(request);
  if (!user_id) return new Response("Sign in first.", { status: 401 });
  const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
  const asked = messages.findLast((message) => message.role === "user");
  const result = streamText({
    model: wrapLanguageModel({
      model,
      middleware: memory({
        client,
        user_id,
        conversation_id: id,
        // What is generated again, or asked again in other words, takes the place of what the memory has.
        ...(asked && { message_id: asked.id }),
        onError: (error, during) => console.warn(`memory fails (${during}):`, error),
        // In Next.js: waitUntil: (report) => after(report), with `after` of next/server
      }),
    }),
    instructions: "You are a helpful assistant.",
    messages: await convertToModelMessages(messages),
    abortSignal: request.signal,
  });
  return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream: result.stream }) });
}

/** Returns who is signed in. Read it from your session, never from the body: whoever names a user reads its memories. */
function userOf(request: Request): string | null {
  return request.headers.get("X-Signed-In-User"); // set by your own proxy or middleware, which removes a client's
}
