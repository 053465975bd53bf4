package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gopkg.in/yaml.v3"
)

//go:embed tools.yaml
var toolsYAML []byte

// tool is a tool as its clients see it, with its action.
type tool struct {
	definition *sdk.Tool
	arguments  map[string]bool // names of the known arguments
	run        action
}

// action does what a tool does. Its text is for the model, its structured result for programs.
type action func(c connection, ctx context.Context, args arguments) (text string, structured any, err error)

var actions = map[string]action{
	"add_memory":         connection.add,
	"search_memories":    connection.search,
	"get_context":        connection.context,
	"list_memories":      connection.list,
	"update_memory":      connection.update,
	"delete_memory":      connection.forget,
	"restore_memory":     connection.restore,
	"get_memory_history": connection.history,
}

// definitions returns the tools of tools.yaml.
var definitions = sync.OnceValue(func() []map[string]any {
	var file struct {
		Tools []map[string]any `yaml:"tools"`
	}
	if err := yaml.Unmarshal(toolsYAML, &file); err != nil {
		panic(fmt.Errorf("tools.yaml: %w", err)) // it is part of the program
	}
	return file.Tools
})

// toolsOf returns the tools of a flavor.
func toolsOf(f flavor) []tool {
	var tools []tool
	for _, described := range definitions() {
		raw, err := json.Marshal(described)
		var definition sdk.Tool
		if err == nil {
			err = json.Unmarshal(raw, &definition)
		}
		if err != nil {
			panic(fmt.Errorf("tools.yaml: %w", err))
		}
		if !f.writes && !definition.Annotations.ReadOnlyHint {
			continue
		}
		definition.Description = strings.TrimSpace(definition.Description)
		schema := definition.InputSchema.(map[string]any)
		properties := schema["properties"].(map[string]any)
		if f.bound {
			delete(properties, "user_id")
			schema["required"] = slices.DeleteFunc(schema["required"].([]any), func(name any) bool { return name == "user_id" })
		}
		if !f.pool {
			delete(properties, "scope")
		}
		known := map[string]bool{}
		for name := range maps.Keys(properties) {
			known[name] = true
		}
		tools = append(tools, tool{definition: &definition, arguments: known, run: actions[definition.Name]})
	}
	return tools
}

// handlerOf returns the handler of a tool. An error becomes a result that the model reads, not an error of the
// protocol, so that the model can repair its arguments.
func (s *Server) handlerOf(t tool) sdk.ToolHandler {
	return func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := connection{v1: s.v1, zoneOf: s.zoneOf, user: userOf(ctx)}
		args, err := c.argumentsOf(t, request.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		text, structured, err := t.run(c, ctx, args)
		if err != nil {
			return failure(err), nil
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: structured,
		}, nil
	}
}

func failure(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}

// arguments are the arguments of a call, by name.
type arguments map[string]json.RawMessage

// argumentsOf reads the arguments of a call. /v1 checks their values.
func (c connection) argumentsOf(t tool, raw json.RawMessage) (arguments, error) {
	var args arguments
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, errors.New("the arguments are not a JSON object: send an object with the arguments of the tool")
		}
	}
	if args == nil {
		args = arguments{}
	}
	if _, named := args["user_id"]; named && c.user != "" {
		return nil, notAnArgument(c.user)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !t.arguments[name] {
			return nil, fmt.Errorf("%q is not an argument of %s, which has %s: leave it out", clip(name), t.definition.Name,
				strings.Join(slices.Sorted(maps.Keys(t.arguments)), ", "))
		}
		if string(args[name]) == "null" { // some hosts send null for what the model left out
			delete(args, name)
		}
	}
	return args, nil
}

// notAnArgument returns the error of a call that names a user although its connection names one.
func notAnArgument(user string) error {
	return fmt.Errorf("user_id is not an argument here: this connection reads and changes only the memory of "+
		"the user %s; leave user_id out", user)
}

// text returns an argument that is a string; "" if it is missing or anything else, which /v1 refuses.
func (a arguments) text(name string) string {
	var text string
	_ = json.Unmarshal(a[name], &text)
	return text
}

// clip shortens a name that a client chose.
func clip(name string) string {
	if chars := []rune(name); len(chars) > 64 {
		return string(chars[:64]) + "..."
	}
	return name
}
