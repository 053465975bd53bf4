// The types of the AI SDK's models, from what the package `ai` exports.
import type { LanguageModelMiddleware } from "ai";

type WrapGenerate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type WrapStream = NonNullable<LanguageModelMiddleware["wrapStream"]>;
type Answer = Awaited<ReturnType<WrapGenerate>>;
type Part<T, Type> = Extract<T, { type: Type }>;

export type CallParameters = Parameters<WrapGenerate>[0]["params"];
export type Prompt = CallParameters["prompt"];
export type Message = Prompt[number];
export type ToolResult = Part<Extract<Message, { role: "tool" }>["content"][number], "tool-result">;
export type Content = Answer["content"][number];
export type FinishReason = Answer["finishReason"];
export type StreamPart = Awaited<ReturnType<WrapStream>>["stream"] extends ReadableStream<infer P> ? P : never;
