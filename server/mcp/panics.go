package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// recoverPanics turns a panic of a handler into an internal error, since the handlers run in goroutines of their own.
func (s *Server) recoverPanics(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				s.log.Error("panic in a handler", zap.String("method", method), zap.Any("panic", cause), zap.Stack("stack"))
				result, err = nil, &jsonrpc.Error{
					Code: jsonrpc.CodeInternalError, Message: "the server failed because of a defect: its log has the cause",
				}
			}
		}()
		return next(ctx, method, request)
	}
}
