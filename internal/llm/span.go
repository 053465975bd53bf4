package llm

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"hippocampus/internal/tracing"
)

// startSpan starts the span of a call with all its retries, by the conventions of OpenTelemetry for generative AI. It
// has counts, and never the text of a prompt or an answer. api is the provider whose API the endpoint has.
func (c *Client) startSpan(ctx context.Context, operation, model, api string) (context.Context, trace.Span) {
	ctx, s := tracing.Start(ctx, operation+" "+model, trace.WithSpanKind(trace.SpanKindClient))
	if s.IsRecording() {
		s.SetAttributes(
			attribute.String("gen_ai.operation.name", operation),
			attribute.String("gen_ai.request.model", model))
		if u, err := url.Parse(c.options.BaseURL); err == nil {
			s.SetAttributes(attribute.String("gen_ai.provider.name", providerOf(u.Hostname(), api)),
				attribute.String("server.address", u.Hostname()))
			if port, err := strconv.Atoi(u.Port()); err == nil {
				s.SetAttributes(attribute.Int("server.port", port))
			}
		}
	}
	return ctx, s
}

// The APIs that endpoints have, by the names of their providers.
const (
	apiOpenAI = "openai"
	apiOllama = "ollama"
	apiCohere = "cohere" // of rerankers
)

// providers are the names of providers in the conventions, by the domains of their endpoints.
var providers = map[string]string{
	"api.openai.com": "openai", "openai.azure.com": "azure.ai.openai", "inference.ai.azure.com": "azure.ai.inference",
	"deepseek.com": "deepseek", "anthropic.com": "anthropic", "googleapis.com": "gcp.gen_ai", "cohere.com": "cohere",
	"cohere.ai": "cohere", "groq.com": "groq", "mistral.ai": "mistral_ai", "perplexity.ai": "perplexity", "x.ai": "x_ai",
}

// providerOf returns the provider of an endpoint. For an unknown provider it returns the one whose API the endpoint
// has, as the conventions ask.
func providerOf(host, api string) string {
	for domain := host; domain != ""; _, domain, _ = strings.Cut(domain, ".") {
		if name := providers[domain]; name != "" {
			return name
		}
	}
	return api
}

// setUsage sets the counted tokens of a call on its span.
func setUsage(s trace.Span, u Usage) {
	if s.IsRecording() && u != (Usage{}) {
		s.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", u.In),
			attribute.Int("gen_ai.usage.cache_read.input_tokens", u.Cached),
			attribute.Int("gen_ai.usage.output_tokens", u.Out))
	}
}
