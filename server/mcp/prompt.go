package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompt adds the prompt that begins a conversation with the context of the user.
func (s *Server) addPrompt(server *sdk.Server, bound bool) {
	arguments := []*sdk.PromptArgument{
		{Name: "query", Title: "Query", Description: "What the conversation is about.", Required: true},
	}
	if !bound {
		arguments = append(arguments, &sdk.PromptArgument{
			Name: "user_id", Title: "User", Description: "The user whose memory it is.", Required: true,
		})
	}
	server.AddPrompt(&sdk.Prompt{
		Name: "recall", Title: "Recall", Arguments: arguments,
		Description: "What is remembered about the user and matters for a query.",
	}, s.prompt)
}

// prompt answers with the context of a query.
func (s *Server) prompt(ctx context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	c := connection{v1: s.v1, zoneOf: s.zoneOf, user: userOf(ctx)}
	args := arguments{}
	for _, name := range []string{"query", "user_id"} {
		value, given := request.Params.Arguments[name]
		if !given {
			continue
		}
		args[name], _ = json.Marshal(value) // a string
	}
	if c.user != "" && args["user_id"] != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: notAnArgument(c.user).Error()}
	}
	text, _, err := c.context(ctx, args)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &sdk.GetPromptResult{
		Description: "What is remembered about the user",
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}
