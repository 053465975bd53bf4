package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// openAI is the body of an error in OpenAI's form; param is JSON.
func openAI(message, param, code string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":%s,"code":%q}}`,
		message, param, code)
}

// pydantic is the body of an error of FastAPI, as Mistral and vLLM send it.
func pydantic(field string) string {
	return fmt.Sprintf(`{"detail":[{"type":"extra_forbidden","loc":["body",%q],"msg":"Extra inputs are not permitted",`+
		`"input":0}]}`, field)
}

// google is the body of an error of Gemini.
func google(field string) string {
	return fmt.Sprintf(`[{"error":{"code":400,"message":%q,"status":"INVALID_ARGUMENT"}}]`,
		"Invalid JSON payload received. Unknown name \""+field+"\": Cannot find field.")
}

// refusals are the bodies with which endpoints refuse a field of a request, by their providers.
var refusals = map[string]map[string]string{
	"OpenAI": {
		"max_tokens": openAI("Unsupported parameter: 'max_tokens' is not supported with this model. "+
			"Use 'max_completion_tokens' instead.", `"max_tokens"`, "unsupported_parameter"),
		"temperature": openAI("Unsupported value: 'temperature' does not support 0 with this model. "+
			"Only the default (1) value is supported.", `"temperature"`, "unsupported_value"),
		"json_schema": openAI("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "+
			"model.", "null", ""),
	},
	"OpenAI behind a gateway": {
		"max_tokens": `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. ` +
			`Use 'max_completion_tokens' instead.","code":"invalid_request_body"}}`,
		"temperature": `{"error":{"message":"litellm.BadRequestError: OpenAIException - Unsupported value: 'temperature' ` +
			`does not support 0.0 with this model.","type":null,"param":null,"code":"400"}}`,
		"json_schema": `{"detail":"Unsupported parameter: response_format"}`,
		"json_object": `{"detail":"Unsupported parameter: response_format"}`,
	},
	"Anthropic": {
		"temperature": `{"type":"error","error":{"type":"invalid_request_error",` +
			"\"message\":\"`temperature` is deprecated for this model.\"}}",
		"json_schema": openAI("response_format: Extra inputs are not permitted", "null", ""),
		"json_object": openAI("response_format: Extra inputs are not permitted", "null", ""),
	},
	"a gateway to Anthropic": {"temperature": `{"message":"temperature is deprecated for this model."}`},
	"Moonshot": {
		"temperature": `{"error":{"message":"invalid temperature: only 1 is allowed for this model"}}`,
	},
	"FastAPI": {
		"temperature": pydantic("temperature"), "max_tokens": pydantic("max_tokens"),
		"max_completion_tokens": pydantic("max_completion_tokens"),
		"json_schema":           pydantic("response_format"), "json_object": pydantic("response_format"),
	},
	"Mistral, within a message": {
		"max_tokens": `{"object":"error","message":` + pydantic("max_tokens") + `,"param":null,"code":null}`,
		"max_completion_tokens": fmt.Sprintf(`{"object":"error","message":%q,"param":null}`,
			pydantic("max_completion_tokens")),
	},
	"vLLM": {
		"json_schema": openAI("response_format is not supported", "null", ""),
		"json_object": openAI("response_format is not supported", "null", ""),
		"max_tokens": `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'max_tokens'), ` +
			`'msg': 'Extra inputs are not permitted', 'input': 100}]","type":"BadRequestError","param":null,"code":400}`,
	},
	"Gemini": {
		"temperature": google("temperature"), "max_tokens": google("max_tokens"),
		"json_schema": google("response_format"), "json_object": google("response_format"),
	},
	"DeepSeek":  {"json_schema": openAI("This response_format type is unavailable now", "null", "invalid_request_error")},
	"LM Studio": {"json_object": `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`},
	"Volcengine": {"json_schema": openAI("The parameter `response_format.type` specified in the request are not valid: "+
		"invalid value: `json_schema`, supported values are: `json_object` and `text`.", `"response_format.type"`, "")},
	"Ollama":      {"json_schema": openAI("no JSON mode", "null", ""), "json_object": openAI("no JSON mode", "null", "")},
	"Bedrock":     {"temperature": `{"message":"The model does not support temperature"}`},
	"SiliconFlow": {"max_tokens": `{"code":20015,"message":"max_tokens 参数无效","data":null}`},
	"plain text":  {"temperature": "temperature: unknown field"},
}

// A model that refuses fields, in the wording of its provider, is asked without them at once. Over all clients and
// prompts, one request is lost for each field.
func TestAnswer_LeavesOutRefusedFields(t *testing.T) {
	t.Parallel()
	for provider, refused := range refusals {
		for _, status := range []int{400, 422} {
			t.Run(fmt.Sprint(provider, status), func(t *testing.T) {
				t.Parallel()
				server := llmtest.New(t)
				var lost []string
				server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
					for _, field := range slices.Sorted(maps.Keys(refused)) {
						if strings.Contains(r.Body, `"`+field+`"`) {
							lost = append(lost, field)
							return llmtest.Raw(refused[field]).As(status)
						}
					}
					return llmtest.Text("{}")
				})
				shared := llm.NewRefusedFields(nil)
				for _, schema := range []json.RawMessage{json.RawMessage(`{"type":"object"}`), nil, json.RawMessage(`{}`)} {
					chat := dial(t, server.URL(), func(o *llm.Options) { o.RefusedFields, o.Retries = shared, -1 }).Chat("m")
					p := llm.Prompt{Name: "box", System: "s", User: "Is the temperature unknown?", MaxTokens: 100, Schema: schema}
					for range 2 {
						if answer, err := chat.Answer(t.Context(), p); err != nil || answer != "{}" {
							t.Fatalf("%q, %v", answer, err)
						}
					}
				}
				slices.Sort(lost)
				if want := slices.Sorted(maps.Keys(refused)); !slices.Equal(lost, want) {
					t.Errorf("lost requests for %q, want %q", lost, want)
				}
				// Another model of the endpoint is asked with all fields.
				chat := dial(t, server.URL(), func(o *llm.Options) { o.RefusedFields = shared }).Chat("other")
				if _, err := chat.Answer(t.Context(), llm.Prompt{Schema: json.RawMessage(`{}`), MaxTokens: 1}); err != nil {
					t.Error(err)
				}
				if len(lost) == len(refused) && provider != "LM Studio" {
					t.Error("the other model is asked without fields that it has not refused")
				}
			})
		}
	}
}

// A request has these values in place of a refused field.
func TestAnswer_SendsWhatReplacesRefusedFields(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var sent []string
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(r.Body), &fields); err != nil {
			t.Error(err)
		}
		delete(fields, "messages")
		delete(fields, "model")
		var all []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, name+"="+string(fields[name]))
		}
		sent = append(sent, strings.Join(all, " "))
		for _, field := range []string{"max_tokens", "temperature", "json_schema"} {
			if strings.Contains(r.Body, `"`+field+`"`) {
				return llmtest.Raw(refusals["OpenAI"][field]).As(http.StatusBadRequest)
			}
		}
		return llmtest.Text("{}")
	})
	core, logs := observer.New(zap.InfoLevel)
	chat := dial(t, server.URL(), func(o *llm.Options) { o.Logger = zap.New(core) }).Chat("m")
	for range 2 {
		p := llm.Prompt{Name: "box", MaxTokens: 7, Schema: json.RawMessage(`{"type":"object"}`)}
		if _, err := chat.Answer(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	const schema = `response_format={"type":"json_schema",` +
		`"json_schema":{"name":"box","schema":{"type":"object"},"strict":true}}`
	const last = `max_completion_tokens=7 response_format={"type":"json_object"}`
	want := []string{
		`max_tokens=7 ` + schema + ` temperature=0`, `max_completion_tokens=7 ` + schema + ` temperature=0`,
		`max_completion_tokens=7 ` + schema, last, last,
	}
	if !slices.Equal(sent, want) {
		t.Errorf("sent\n%s", strings.Join(sent, "\n"))
	}
	if logs.Len() != 3 {
		t.Errorf("%d lines in the log: %v", logs.Len(), logs.All())
	}
}

// A request that is refused for its meaning or its length is not repeated.
func TestAnswer_RepeatsNoRequestThatIsRefusedForItsMeaning(t *testing.T) {
	t.Parallel()
	const question = `{"content":"Is the temperature unsupported, or is max_tokens invalid? And json_schema?"}`
	for name, body := range map[string]string{
		"length": openAI("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in "+
			"the messages, 1000 in the completion).", `"messages"`, "context_length_exceeded"),
		"length, by vLLM": openAI("'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context "+
			"length is 4096 tokens and your request has 3500 input tokens.", `"max_tokens"`, ""),
		"messages": openAI("Invalid 'messages[1].content': the temperature is invalid.", `"messages.[1].content"`,
			"invalid_type"),
		"place of messages": `{"detail":[{"type":"string_type","loc":["body","messages",0,"content"],` +
			`"msg":"temperature is not supported"}]}`,
		"model": openAI("The model `m` does not exist", `"model"`, "model_not_found"),
		"echo": openAI("Invalid message: Is the temperature unsupported, or is max_tokens invalid? And json_schema?",
			"null", ""),
		"echo, short": openAI("Unsupported content 'Is the temperature unsupported, or", "null", ""),
		"no reason":   openAI("Invalid request data", "null", ""),
		"not sent":    openAI("Unsupported parameter: 'top_k'. Supported: 'temperature'", "null", ""),
		"empty":       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.New(t)
			server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Raw(body).As(400) })
			chat := dial(t, server.URL(), nil).Chat("m")
			p := llm.Prompt{Name: "box", User: question, MaxTokens: 1000, Schema: json.RawMessage(`{}`)}
			_, err := chat.Answer(t.Context(), p)
			if !memory.IsKind(err, memory.KindUnavailable) || llm.CauseOf(err) != llm.CauseRequest || server.Chats() != 1 {
				t.Errorf("%v after %d calls", err, server.Chats())
			}
		})
	}
}

// An endpoint that refuses every field, and then the request without them, is asked once for each field.
func TestAnswer_EndsWhenNoFieldIsLeft(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Raw("not supported: temperature, max_tokens, max_completion_tokens, response_format").As(400)
	})
	chat := dial(t, server.URL(), nil).Chat("m")
	p := llm.Prompt{Name: "box", MaxTokens: 1000, Schema: json.RawMessage(`{}`)}
	for range 2 {
		if _, err := chat.Answer(t.Context(), p); llm.CauseOf(err) != llm.CauseRequest {
			t.Errorf("%v", err)
		}
	}
	if server.Chats() != 7 {
		t.Errorf("%d calls", server.Chats())
	}
}

// fieldStore is a store that fails while down is set.
type fieldStore struct {
	kept []memory.RefusedField
	down bool
}

func (s *fieldStore) RefusedFields(context.Context, string) ([]memory.RefusedField, error) {
	if s.down {
		return nil, memory.Errorf(memory.KindUnavailable, "down")
	}
	return slices.Clone(s.kept), nil
}

func (s *fieldStore) KeepRefusedField(_ context.Context, f memory.RefusedField) error {
	if s.down {
		return memory.Errorf(memory.KindUnavailable, "down")
	}
	if !slices.Contains(s.kept, f) {
		s.kept = append(s.kept, f)
	}
	return nil
}

// Each field costs one request in all, whichever process sends it. A failing store does not fail the request, and the
// field is stored with the next one.
func TestRefusedFields_OutliveTheProcess(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var lost []string
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		for _, field := range []string{"max_tokens", "temperature"} {
			if strings.Contains(r.Body, `"`+field+`"`) {
				lost = append(lost, field)
				return llmtest.Raw(refusals["OpenAI"][field]).As(http.StatusBadRequest)
			}
		}
		return llmtest.Text("{}")
	})
	store := &fieldStore{}
	ask := func(fields *llm.RefusedFields) {
		t.Helper()
		chat := dial(t, server.URL(), func(o *llm.Options) { o.RefusedFields = fields }).Chat("m")
		if _, err := chat.Answer(t.Context(), llm.Prompt{Name: "box", MaxTokens: 7}); err != nil {
			t.Fatal(err)
		}
	}
	started := func() *llm.RefusedFields {
		fields := llm.NewRefusedFields(store)
		if err := fields.Load(t.Context(), server.URL()); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	first, beside := started(), started()
	store.down = true
	ask(first)
	if len(store.kept) != 0 || len(lost) != 2 {
		t.Fatalf("while the store fails: %v kept, %v lost", store.kept, lost)
	}
	store.down = false
	ask(first)
	if len(store.kept) != 2 {
		t.Fatalf("kept %v", store.kept)
	}
	ask(beside) // loses one request, and then reads both fields
	ask(started())
	if len(lost) != 3 {
		t.Errorf("lost %v", lost)
	}
	want := []memory.RefusedField{
		{Endpoint: server.URL(), Model: "m", Field: "max_tokens"},
		{Endpoint: server.URL(), Model: "m", Field: "temperature"},
	}
	if !slices.Equal(store.kept, want) {
		t.Errorf("kept %v", store.kept)
	}
}
